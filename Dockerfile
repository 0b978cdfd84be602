# An image that makes extracts, or writes with the embedded model or any other, on the CPU:
#   docker build --tag storm .
#   docker run --rm --volume "$PWD/articles:/articles" storm write "Silk Road"
# A server that writes for several people: compose.yaml.
# With a hosted model: docker run --rm --volume "$PWD/articles:/articles" --env OPENAI_API_KEY storm write "Silk Road" --lm openai/gpt-4o
FROM python:3.12-slim AS build

ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
WORKDIR /src
COPY constraints.txt ./
RUN python -m venv /opt/storm \
 && /opt/storm/bin/pip install --no-cache-dir --constraint constraints.txt --extra-index-url "$TORCH_INDEX" torch

COPY pyproject.toml README.md LICENSE ./
COPY signatures signatures
COPY storm_pipeline storm_pipeline
RUN /opt/storm/bin/pip install --no-cache-dir --constraint constraints.txt '.[local,api,web,mcp,pdf,search]'

# What extracts need, 90 MB; the embedded model, 1.1 GB, is downloaded where it is named (storm assets pull --all).
# --build-arg WEIGHTS= leaves all out, for use with a hosted model.
ARG WEIGHTS=yes
ENV STORM_HOME=/storm
RUN mkdir -p "$STORM_HOME/cache" "$STORM_HOME/servers" && if [ -n "$WEIGHTS" ]; then /opt/storm/bin/storm assets pull; fi

FROM python:3.12-slim

RUN apt-get update && apt-get install --yes --no-install-recommends \
      libgomp1 libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 fonts-dejavu-core \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 storm && install --directory --owner storm /articles
COPY --from=build /opt/storm /opt/storm
COPY --from=build --chown=storm /storm /storm
ENV PATH=/opt/storm/bin:$PATH STORM_HOME=/storm
USER storm
WORKDIR /articles
# Of `storm serve --api --host 0.0.0.0`; in a container that writes one article it finds no server, which stops nothing.
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/health', timeout=4)"]
ENTRYPOINT ["storm"]
CMD ["--help"]
