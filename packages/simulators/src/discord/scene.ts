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

/** Answers one call; undefined becomes 204. */
export type Handler = (scene: Scene, call: RestCall) => unknown;

/** `GET /channels/:channel` to what answers it. Names with a colon match one part of the path. */
export type Routes = Readonly<Record<string, Handler>>;
