import type { Gateway } from './gateway.ts';
import type { Interactions } from './interactions.ts';
import type { RestCall } from './rest-call.ts';
import type { World } from './world.ts';

/** What routes work on. */
export interface Scene {
  readonly world: World;
  readonly gateway: Gateway;
  readonly interactions: Interactions;
}

/** Answers one call; undefined becomes 204. */
export type Handler = (scene: Scene, call: RestCall) => unknown;

/** `GET /channels/:channel` to what answers it. Names with a colon match one part of the path. */
export type Routes = Readonly<Record<string, Handler>>;

/** A route that fits, and its named parts. */
export interface Match {
  readonly route: string;
  readonly handler: Handler;
  readonly params: ReadonlyMap<string, string>;
}

/** The first route that fits, so exact ones must stand before those with names. */
export function matchRoute(routes: Routes, method: string, path: string): Match | undefined {
  const parts = `${method} ${path}`.split('/');
  for (const [route, handler] of Object.entries(routes)) {
    const params = paramsOf(route.split('/'), parts);
    if (params !== undefined) return { route, handler, params };
  }
  return undefined;
}

function paramsOf(
  pattern: readonly string[],
  parts: readonly string[],
): Map<string, string> | undefined {
  if (pattern.length !== parts.length) return undefined;
  const params = new Map<string, string>();
  for (const [index, name] of pattern.entries()) {
    const part = parts[index] ?? '';
    if (name.startsWith(':')) params.set(name.slice(1), part);
    else if (name !== part) return undefined;
  }
  return params;
}
