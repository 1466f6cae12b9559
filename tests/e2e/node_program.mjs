// What a program of a user's does with the official packages for Node; run in a folder that has them.
// Writes one JSON object: for each package what came of a plain call, a stream, a halted stream, a withheld answer.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const [url, key] = process.argv.slice(2);
const FEE = "The fee for late reports is 5 euros.";
const STRICT = { groundtrail: { policy: "halt-on HIGH" } };
const question = (manner) => ({ role: "user", content: `What is the fee for late reports? Answer ${manner}.` });
const refusal = async (call) => {
  try {
    await call();
  } catch (error) {
    return [error.constructor.name, error.status, (error.error?.error ?? error.error)?.code];
  }
  return [];
};

async function withOpenAI() {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
  const ask = (manner, more = {}) => ({
    model: "gpt-4o-mini",
    messages: [{ role: "system", content: FEE }, question(manner)],
    ...more,
  });
  const streamed = async (given) => {
    let text = "";
    let reason = null;
    for await (const chunk of await client.chat.completions.create({ ...given, stream: true })) {
      text += chunk.choices[0]?.delta?.content ?? "";
      reason = chunk.choices[0]?.finish_reason ?? reason;
    }
    return [text.trim(), reason];
  };
  const { data, response } = await client.chat.completions.create(ask("truly")).withResponse();
  return {
    plain: [data.choices[0].message.content, data.groundtrail.mode],
    header: [response.headers.get("crp-safety-hallucination-risk"), data.groundtrail.checks[0].risk_level],
    stream: await streamed(ask("truly")),
    halted: await streamed(ask("wrongly", STRICT)),
    withheld: await refusal(() => client.chat.completions.create(ask("wrongly", STRICT))),
    nobody: await refusal(() => new OpenAI({ baseURL: `${url}/v1`, apiKey: "none" }).chat.completions.create(ask("truly"))),
  };
}

async function withAnthropic() {
  const client = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 });
  const ask = (manner, more = {}) => ({
    model: "claude-any",
    max_tokens: 100,
    system: FEE,
    messages: [question(manner)],
    ...more,
  });
  const streamed = async (given) => {
    let text = "";
    const stream = client.messages.stream(given).on("text", (piece) => (text += piece));
    const { stop_reason } = await stream.finalMessage();
    return [text.trim(), stop_reason];
  };
  const { data, response } = await client.messages.create(ask("truly")).withResponse();
  return {
    plain: [data.content[0].text, data.groundtrail.mode],
    header: [response.headers.get("crp-safety-hallucination-risk"), data.groundtrail.checks[0].risk_level],
    stream: await streamed(ask("truly")),
    halted: await streamed(ask("wrongly", STRICT)),
    withheld: await refusal(() => client.messages.create(ask("wrongly", STRICT))),
    nobody: await refusal(() => new Anthropic({ baseURL: url, apiKey: "none" }).messages.create(ask("truly"))),
  };
}

console.log(JSON.stringify({ openai: await withOpenAI(), anthropic: await withAnthropic() }));
