import type { PROGRAMS, ServiceName } from './programs.ts';

/** Why a required service is not available; shown to the person who ran the tests. */
export interface MissingService {
  readonly service: ServiceName;
  readonly reason: string;
  /**
   * False when the program exists but does not work here, or was switched off: installing it does
   * not help.
   */
  readonly canInstall: boolean;
}

/**
 * The result of starting a service. `value` is a URL or a path, whatever the tests receive; `stop`
 * ends the service and removes its files.
 */
export type ServiceStart =
  | { readonly state: 'ready'; readonly value: string; readonly stop: () => Promise<void> }
  | { readonly state: 'missing'; readonly reason: string; readonly canInstall?: boolean };

/**
 * What `inject` returns for each key of the list: `redisUrl` and `postgresUrl` are private servers
 * whose URL contains a password; `chromiumUrl` is the `ws://…` of a running browser; all other
 * values are paths of programs.
 */
type ServiceValues = {
  [Name in ServiceName as (typeof PROGRAMS)[Name]['key']]: string | null;
};

declare module 'vitest' {
  interface ProvidedContext extends ServiceValues {
    /**
     * Services that the chosen test files need but that are not available; read by the reporter.
     */
    missingServices: readonly MissingService[];
  }
}
