# docker build -t harness . && docker run --rm -v "$PWD:/work" harness run config.yaml
FROM python:3.13-slim
COPY pyproject.toml README.md LICENSE /src/
COPY docs/config.schema.json docs/manifest.schema.json /src/docs/
COPY harness /src/harness
RUN pip install --no-cache-dir "/src[plots]" && rm -rf /src
WORKDIR /work
ENTRYPOINT ["harness"]
