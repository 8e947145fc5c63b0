# The Mediator for a PostgreSQL of your own (15 or newer), with nothing of the embedded one in it.
#
#   docker build -t mediator .
#   docker run -p 3000:3000 -v ./tokens.json:/tokens.json:ro -e MEDIATOR_TOKENS_FILE=/tokens.json -e DATABASE_URL=postgres://… mediator
#
# Inside a container the server must listen on all addresses to be reached, so HOST is 0.0.0.0. Without a tokens file it does
# not know its callers, and refuses to start there until whoever runs it says MEDIATOR_INSECURE=true: publish the port to
# people you trust only then. That is not said here, since it is not for an image to say.
#
# Debian and not Alpine: with the optional packages added, the embedded PostgreSQL runs here too, and it needs glibc.

FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY nest-cli.json tsconfig.json tsconfig.build.json ./
COPY migrations migrations
COPY src src
RUN npm run build

FROM node:24-bookworm-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000
WORKDIR /app
COPY package.json ./
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
USER node
EXPOSE 3000
# SIGTERM: /readyz is 503 for MEDIATOR_LINGER_SECONDS (0), then long polls end, what is under way has MEDIATOR_STOP_SECONDS
# (25), and the database is closed; exit code 0. `docker stop` kills after 10 s: give it longer than both, `--time 30`.
STOPSIGNAL SIGTERM
# /livez knows nothing of the database: a container is not restarted since its database is away. Readiness is /readyz.
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/src/main.js"]
