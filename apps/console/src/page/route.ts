import { useEffect, useState } from 'preact/hooks';

/** What the page shows; it is in the address, after `#`, so that the browser can go back to it. */
export type Route =
  | { readonly view: 'chat' }
  /** SOUL.md; `version` null: the list, and what waits for a decision. */
  | { readonly view: 'soul'; readonly version: number | null }
  /** Dead letters, and work that is not done yet. */
  | { readonly view: 'queue' }
  /** Signed-in browsers. */
  | { readonly view: 'sessions' }
  /** Weaknesses of the installation. */
  | { readonly view: 'audit' }
  /** Standing tasks. */
  | { readonly view: 'heartbeat' }
  /** What happened to a message; null: to the newest one. */
  | { readonly view: 'why'; readonly message: string | null }
  /** The prompt of a hypothetical turn. */
  | { readonly view: 'preview' }
  /** `turn` null: the list alone. `against` is the earlier turn that `turn` is compared with. */
  | { readonly view: 'prompt'; readonly turn: string | null; readonly against: string | null };

/** Reads the part of the address behind `#`; anything unknown is the chat. */
export function routeOf(hash: string): Route {
  const [view, turn, word, against] = hash.replace(/^#\/?/, '').split('/').map(decoded);
  if (isPlain(view)) return { view };
  if (view === 'soul') return { view, version: /^\d{1,9}$/.test(turn ?? '') ? Number(turn) : null };
  if (view === 'why') return { view, message: turn || null };
  if (view !== 'prompt') return { view: 'chat' };
  if (!turn) return { view, turn: null, against: null };
  return { view, turn, against: word === 'against' && against ? against : null };
}

/** The address of a route, for links. */
export function hrefOf(route: Route): string {
  if (route.view === 'chat') return '#/';
  if (route.view === 'soul') return route.version === null ? '#/soul' : `#/soul/${route.version}`;
  if (route.view === 'why') {
    return route.message === null ? '#/why' : `#/why/${encodeURIComponent(route.message)}`;
  }
  if (route.view !== 'prompt') return `#/${route.view}`;
  const parts = [route.turn, ...(route.against === null ? [] : ['against', route.against])];
  const path = parts.flatMap((part) => (part === null ? [] : [encodeURIComponent(part)]));
  return ['#/prompt', ...path].join('/');
}

const PLAIN = ['preview', 'heartbeat', 'queue', 'sessions', 'audit'] as const;

/** A view that shows one thing, so that nothing follows its name. */
function isPlain(view: string | undefined): view is (typeof PLAIN)[number] {
  return PLAIN.some((one) => one === view);
}

/** A decoded part of an address; invalid encodings stay as they are. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The route as it is now; the component renders again when the address changes. */
export function useRoute(): Route {
  const [route, setRoute] = useState(routeOf(location.hash));
  useEffect(() => {
    const look = (): void => setRoute(routeOf(location.hash));
    addEventListener('hashchange', look);
    return () => removeEventListener('hashchange', look);
  }, []);
  return route;
}
