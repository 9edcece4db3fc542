/** A server or program that some tests need and that may be absent on a machine. */
export type ServiceName =
  | 'redis'
  | 'postgres'
  | 'pgbouncer'
  | 'chromium'
  | 'promtool'
  | 'systemdAnalyze';

/** Why a wanted service could not be had: shown to the person who ran the tests. */
export type MissingService = { readonly service: ServiceName; readonly reason: string };

/**
 * What starting a service came to. `value` is a URL or a path, whatever the tests receive;
 * `stop` ends the service and removes its files.
 */
export type ServiceStart =
  | { readonly state: 'ready'; readonly value: string; readonly stop: () => Promise<void> }
  | { readonly state: 'missing'; readonly reason: string };

/** The key under which `inject` gives each service to the tests. */
export const PROVIDED_KEYS = {
  redis: 'redisUrl',
  postgres: 'postgresUrl',
  pgbouncer: 'pgbouncerPath',
  chromium: 'chromiumUrl',
  promtool: 'promtoolPath',
  systemdAnalyze: 'systemdAnalyzePath',
} as const satisfies Record<ServiceName, keyof ServiceValues>;

type ServiceValues = {
  /** `redis://…` of a private server, or null. Password included: pass the URL on whole. */
  redisUrl: string | null;
  /** `postgres://…` of a private server whose user may create databases, or null. */
  postgresUrl: string | null;
  /** Path of a PgBouncer program, or null. */
  pgbouncerPath: string | null;
  /** `ws://…` of a Chromium or Chrome that runs, or null. */
  chromiumUrl: string | null;
  /** Path of Prometheus's evaluator of rules, or null. */
  promtoolPath: string | null;
  /** Path of systemd's verifier of units, or null. */
  systemdAnalyzePath: string | null;
};

declare module 'vitest' {
  interface ProvidedContext extends ServiceValues {
    /** What was wanted by the chosen test files and is not there; read by the reporter. */
    missingServices: readonly MissingService[];
  }
}
