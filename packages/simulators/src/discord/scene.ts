import type { Gateway } from './gateway.ts';
import type { InteractionStore } from './interactions.ts';
import type { RestCall } from './request.ts';
import type { World } from './world.ts';

/** The parts of the double that routes use. */
export interface RouteContext {
  readonly world: World;
  readonly gateway: Gateway;
  readonly interactions: InteractionStore;
}

/** Handles a call; an undefined result becomes status 204. */
export type RouteHandler = (scene: RouteContext, call: RestCall) => unknown;

/**
 * Handlers keyed by method and path, for example `GET /channels/:channel`. A name with a colon
 * matches one path segment.
 */
export type RouteHandlers = Readonly<Record<string, RouteHandler>>;
