import type { Gateway } from './gateway.ts';
import type { Interactions } from './interactions.ts';
import type { RestCall } from './request.ts';
import type { World } from './world.ts';

/** The parts of the double that routes use. */
export interface Scene {
  readonly world: World;
  readonly gateway: Gateway;
  readonly interactions: Interactions;
}

/** Handles a call; an undefined result becomes status 204. */
export type Handler = (scene: Scene, call: RestCall) => unknown;

/**
 * Handlers keyed by method and path, for example `GET /channels/:channel`. A name with a colon
 * matches one path segment.
 */
export type Routes = Readonly<Record<string, Handler>>;
