from services.common.encoding import sha256_hex
from services.common.extractive.composing import ExtractLimits
from services.common.extractive.model import ExtractiveLanguageModel
from services.common.ports.language_model import ChatMessage, ChatRole, EvidenceFact, LanguageRequest
from tests.fakes.gateway_world import WordCounter

FACTS = (
    EvidenceFact("a", "Rule one is that the fee is 5 euros.", 0.9),
    EvidenceFact("b", "The other fee is 9 euros by rule two.", 0.8),
)


def model():
    return ExtractiveLanguageModel(WordCounter(), "words", ExtractLimits(5, 0.1))


def request(**changes):
    values = {
        "query": "What is the fee by rule one, and what is the fee by rule two?",
        "messages": (ChatMessage(ChatRole.USER, "x"),),
        "evidence": FACTS,
        "model": "words",
    }
    return LanguageRequest(**(values | changes))


async def test_it_names_itself_and_the_text_it_composed():
    reply = await model().complete(request())
    assert reply.text == "Rule one is that the fee is 5 euros. The other fee is 9 euros by rule two."
    assert reply.model_fingerprint == f"groundtrail-extractive@2;sha256:{sha256_hex(reply.text)}"
    assert (reply.finish_reason, reply.prompt_tokens) == ("stop", None)
    assert model().default_model == "words"


async def test_it_keeps_to_the_token_limit_by_whole_passages():
    reply = await model().complete(request(max_tokens=10))
    assert (reply.text, reply.finish_reason) == ("Rule one is that the fee is 5 euros.", "length")
    nothing = await model().complete(request(max_tokens=3))
    assert (nothing.text, nothing.finish_reason) == ("", "length")
