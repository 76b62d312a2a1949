# longmark in a container: docs/install.md. The target `annotate` serves a labelling study: docs/annotate.md.
FROM python:3.13-slim AS longmark
ARG EXTRAS=stats,rag,classic,graphs,parquet
WORKDIR /src
COPY pyproject.toml README.md LICENSE THIRD-PARTY.md ./
COPY src ./src
RUN pip install --no-cache-dir ".[${EXTRAS}]" && rm -rf /src \
    && useradd --create-home --uid 1000 longmark && install -d -o longmark -g longmark -m 1777 /cache /work
ENV LONGMARK_HOME=/cache
USER longmark
WORKDIR /work
VOLUME /cache
ENTRYPOINT ["longmark"]
CMD ["--help"]

FROM longmark AS annotate
# The study's folder is mounted at /study and holds the database.
WORKDIR /study
VOLUME /study
EXPOSE 8765
# Stops in good order on SIGTERM; a kill loses nothing that was shown as saved either.
ENTRYPOINT ["longmark", "annotate"]
CMD ["serve", "/study/study.yaml", "--host", "0.0.0.0", "--behind-tls", "http://localhost:8765"]

FROM longmark
