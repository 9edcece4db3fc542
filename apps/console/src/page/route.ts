/** The view of the page; it is in the address, after `#`, so that the browser can go back to it. */
export interface Route {
  /** The id of a view, `prompt`. */
  readonly view: string;
  /** The arguments behind it in the address: an id, a filter. The view defines the meaning of each. */
  readonly args: readonly string[];
  /** The agent that it is about (F14): `?agent=` at its end, or that of a chat. Absent: the default one, of lists all. */
  readonly agent?: string | undefined;
}

/** Reads the part of the address behind `#`. Without a view in it, it is the chat. */
export function routeOf(hash: string): Route {
  const [path = '', query] = hash.replace(/^#\/?/, '').split('?');
  const [view, ...args] = path.split('/').map(decodePart);
  const isChat = !view || view === 'chat';
  const agent = isChat ? agentOf(args[0]) : new URLSearchParams(query).get('agent');
  return { view: view || 'chat', args, ...(agent && { agent }) };
}

/**
 * The address of a view and what follows it: `hrefOf('prompt', 'turn_1')` is `#/prompt/turn_1`. Where the page is about
 * one agent, so is what its links lead to.
 */
export function hrefOf(view: string, ...args: readonly string[]): string {
  return hashOfRoute({ view, args, agent: shownAgent() });
}

/** The address of a route. A chat names its agent by its id. */
export function hashOfRoute({ view, args, agent }: Route): string {
  if (view === 'chat' && args.length === 0) return '#/';
  const path = `#/${[view, ...args].map(encodeURIComponent).join('/')}`;
  return view === 'chat' || !agent ? path : `${path}?agent=${encodeURIComponent(agent)}`;
}

/** The address of a chat of the page. */
export function hrefOfChat(chat: string): string {
  return hashOfRoute({ view: 'chat', args: chat === 'main' ? [] : [chat] });
}

/** The agent that the page is about now. */
export function shownAgent(): string | undefined {
  return routeOf(globalThis.location?.hash ?? '').agent;
}

/** The name of the agent of a conversation, or of a chat of the page; undefined: the default one. */
export function agentOf(id = ''): string | undefined {
  return /^@([^/]+)\//.exec(id)?.[1];
}

/** A decoded part of an address; invalid encodings stay as they are. */
export function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
