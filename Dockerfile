# syntax=docker/dockerfile:1.7
# One image for every service: `groundtrail serve` is the whole suite, `groundtrail serve dpe` is one of them.
# Images are pinned by tag. Digests are not known where this file was written (no container engine, no image registry);
# pin them when you mirror the images: `docker buildx imagetools inspect IMAGE`.

FROM python:3.11.11-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 UV_LINK_MODE=copy
WORKDIR /src
COPY tools/bootstrap.lock requirements.lock ./
RUN python -m pip install --require-hashes -r bootstrap.lock \
    && python -m venv /opt/groundtrail \
    && uv pip install --python /opt/groundtrail/bin/python --require-hashes -r requirements.lock
COPY deploy/build.lock ./deploy/
RUN uv pip install --system --require-hashes -r deploy/build.lock
COPY pyproject.toml LICENSE NOTICE ./
COPY clients/python ./clients/python
COPY deploy/wheels ./deploy/wheels
COPY tools/build_wheels.py ./tools/
COPY gen ./gen
COPY services ./services
COPY model_repository ./model_repository
COPY examples ./examples
RUN python -m tools.build_wheels -o /dist \
    && uv pip install --python /opt/groundtrail/bin/python --no-deps /dist/groundtrail*.whl
COPY tools/descriptor_set.py ./tools/
RUN PYTHONPATH=gen /opt/groundtrail/bin/python tools/descriptor_set.py /opt/groundtrail.pb

FROM envoyproxy/envoy:v1.40.0 AS proxy
COPY deploy/envoy/envoy.yaml /etc/envoy/envoy.yaml
COPY --from=build /opt/groundtrail.pb /etc/envoy/groundtrail.pb
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=5 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9901 && printf 'GET /ready HTTP/1.0\\r\\n\\r\\n' >&3 && grep -q LIVE <&3"]

FROM python:3.11.11-slim-bookworm AS runtime
LABEL org.opencontainers.image.title="Groundtrail" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0"
RUN groupadd --system --gid 10001 groundtrail \
    && useradd --system --uid 10001 --gid groundtrail --home-dir /var/lib/groundtrail --shell /usr/sbin/nologin groundtrail \
    && install -d -o groundtrail -g groundtrail -m 0700 /var/lib/groundtrail
COPY --from=build /opt/groundtrail /opt/groundtrail
ENV PATH=/opt/groundtrail/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    GROUNDTRAIL_SERVER__HOST=0.0.0.0 \
    GROUNDTRAIL_SERVER__PORT=50051 \
    GROUNDTRAIL_TELEMETRY__HTTP_HOST=0.0.0.0 \
    GROUNDTRAIL_TELEMETRY__HTTP_PORT=9464 \
    GROUNDTRAIL_STORE__DATA_DIR=/var/lib/groundtrail
WORKDIR /var/lib/groundtrail
USER groundtrail
VOLUME ["/var/lib/groundtrail"]
EXPOSE 50051 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=40s --retries=6 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:9464/readyz', timeout=2)"]
ENTRYPOINT ["groundtrail"]
CMD ["serve"]
