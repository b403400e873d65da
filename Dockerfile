# docker build -t headlight . && docker run -p 8000:8000 -v headlight:/data headlight

# A tag can change; pass python@sha256:… to build on an image that you have tested.
ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS packages
# Passed to pip, for example to use your own index, or one with CPU-only builds of PyTorch.
ARG PIP_ARGS=""
ARG TORCH_ARGS=""
# "-r requirements-scale.lock" builds the image for several machines (docs/scale.md).
ARG MORE=""
WORKDIR /build
COPY requirements.txt requirements.lock requirements-scale.lock ./
# All packages are checked by their hashes, except torch: each platform has a different build.
RUN python -m venv /opt/headlight \
 && /opt/headlight/bin/pip install --no-cache-dir ${PIP_ARGS} --require-hashes -r requirements.lock ${MORE} \
 && /opt/headlight/bin/pip install --no-cache-dir ${PIP_ARGS} ${TORCH_ARGS} \
      $(grep '^torch==' requirements.txt)

FROM ${BASE}
ENV PATH=/opt/headlight/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HEADLIGHT_DATA_DIR=/data
# The font for Chinese in link previews.
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends fonts-noto-cjk \
 && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --no-create-home headlight \
 && install --directory --owner=headlight /data
COPY --from=packages /opt/headlight /opt/headlight
WORKDIR /srv/headlight
COPY LICENSE ./
COPY THIRD_PARTY_NOTICES.md ./
COPY model model
COPY locale locale
COPY static static
COPY templates templates
COPY lessons lessons
COPY app app
USER headlight
VOLUME /data
EXPOSE 8000
HEALTHCHECK --start-period=30s --interval=30s --timeout=5s \
  CMD python -c "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ.get('HEADLIGHT_PORT', '8000') + '/api/health', timeout=4)"
CMD ["python", "-m", "app"]
