# Parley in an image: `docker build -t parley .`, then `docker run parley --help`. The two compose files use it.
FROM node:24-slim AS build
WORKDIR /parley
COPY . .
# The image brings Node itself, so what npm would fetch beside its packages is not needed.
RUN npm ci --omit=dev --ignore-scripts && chown node:node /parley
# Node keeps what it has compiled apart for each user.
USER node
# What `parley --version` says: docker build --build-arg PARLEY_COMMIT=$(git rev-parse --short=12 HEAD) …
ARG PARLEY_COMMIT=""
RUN node apps/parley/src/build/main.ts && test -f dist/bundle.json

FROM node:24-slim
WORKDIR /parley
COPY --from=build /parley/package.json ./
COPY --from=build /parley/config ./config
COPY --from=build /parley/apps/parley/package.json ./apps/parley/
COPY --from=build /parley/apps/parley/bin ./apps/parley/bin
# The bundle is all that runs: no sources, no libraries.
COPY --from=build --chown=node:node /parley/dist ./dist
# A volume mounted here belongs to this user from the start.
RUN mkdir -p /home/node/parley && chown node:node /home/node/parley
USER node
ENV PARLEY_HOME=/home/node/parley
EXPOSE 7411
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:7411/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Few arenas of malloc: each keeps what threads have freed.
ENV MALLOC_ARENA_MAX=2
ENTRYPOINT ["node", "--max-semi-space-size=8", "apps/parley/bin/parley.js"]
CMD ["start"]
