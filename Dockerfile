# Node 26.10.0 on Alpine, by the digest of its index for all platforms: what is built next year is built on the same.
# Another base, or a copy in a registry of your own: --build-arg NODE_IMAGE=…
ARG NODE_IMAGE=docker.io/library/node:26.10.0-alpine@sha256:0b36e8c136b94cd4fcf02188228e76c31ad5872eef3fec8cbd2eee500cfd9e80

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY tools/pinned-node tools/pinned-node
# Optional packages too: among them are the compiler and the bundler for this platform.
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY tools tools
COPY src src
# The program has all that it needs in its files: the packages are not part of the image, nor is the library for apps.
RUN node tools/build.ts \
 && rm -rf node_modules dist/library \
 && find dist -type f -name '*.ts' -delete \
 && (find dist -depth -type d -exec rmdir {} + 2>/dev/null || true) \
 && mkdir cache && chown node cache
COPY config config
# Starts and ends it once as its user: what Node keeps of the compiled code saves a sixth of every later start.
USER node
RUN export NODE_COMPILE_CACHE=/app/cache \
 && node dist/main.js serve --ready-file /tmp/ready.json --set listen.port=0 --set ops.port=0 \
      --set store.sqlite.path=/tmp/gatehouse.db --set keys.sealingKey.file=/tmp/sealing.key & \
    gateway=$! \
 && until [ -f /tmp/ready.json ]; do kill -0 $gateway || exit 1; sleep 0.1; done \
 && kill -TERM $gateway && wait $gateway
USER root
RUN chmod -R a+rX cache && mkdir /out && mv package.json config cache dist /out

FROM ${NODE_IMAGE}
ARG NODE_IMAGE
# .ci/release adds what only it knows: when, of which commit and from where.
LABEL org.opencontainers.image.title="Gatehouse" \
      org.opencontainers.image.description="An authenticating reverse proxy for secret keys and bearer tokens" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.authors="The Gatehouse authors" \
      org.opencontainers.image.vendor="The Gatehouse authors" \
      org.opencontainers.image.base.name="${NODE_IMAGE}"
ENV NODE_ENV=production \
    NODE_COMPILE_CACHE=/app/cache \
    GATEHOUSE__LISTEN__HOST=0.0.0.0
WORKDIR /app
# No package manager is left to anybody who gets in. data is where the shipped config keeps database and sealing key.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn* \
 && ln -s /app/dist/main.js /usr/local/bin/gatehouse \
 && mkdir data && chown node:node data
COPY --from=build /out ./
USER node
VOLUME ["/app/data"]
# The ops listener stays on 127.0.0.1:9090 in here unless GATEHOUSE__OPS__HOST opens it, so it is not exposed.
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["node", "-e", "require('node:http').get({ host: '127.0.0.1', port: process.env.GATEHOUSE__OPS__PORT || 9090, path: '/livez' }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
# Exec form: signals reach the gateway itself, which ends gracefully.
ENTRYPOINT ["node", "dist/main.js"]
# With the shipped config that is the demo without its backend: mount one at /app/config/gateway.yaml.
CMD ["serve"]
