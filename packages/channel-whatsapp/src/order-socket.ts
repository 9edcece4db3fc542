import { guarded } from '@parley/channels';
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';

type Wire = WASocket['ws'];

/**
 * Puts two things right on a new socket. Baileys works one by one only on messages that waited for a
 * connection; a later one overtakes them, and a writer it has to look up is overtaken by one it knows:
 * here all messages stand in the line of those that waited. And bytes that it cannot decrypt reject a
 * promise that nobody holds, which would end the process: here they end the connection.
 */
export function orderSocket(
  ws: Wire,
  note: (stanza: BinaryNode) => void,
  breakOff: (reason: unknown) => void,
): void {
  takeOver<unknown>(ws, 'message', (handle) => (data) => {
    handle(data).catch(breakOff);
  });
  takeOver<BinaryNode>(ws, 'CB:message', (handle) => (stanza) => {
    note(stanza);
    handle(inLine(stanza)).catch(breakOff);
  });
}

/** Baileys puts into its line what has this attribute. */
function inLine({ attrs, ...stanza }: BinaryNode): BinaryNode {
  return { ...stanza, attrs: { offline: '0', ...attrs } };
}

/** Replaces Baileys' own listeners of an event by one that calls them. */
function takeOver<Value>(
  ws: Wire,
  event: string,
  wrap: (handle: (value: Value) => Promise<void>) => (value: Value) => void,
): void {
  const listeners = ws.listeners(event);
  ws.removeAllListeners(event);
  const handle = async (value: Value) => {
    for (const listener of listeners) await Reflect.apply(listener, ws, [value]);
  };
  ws.on(event, guarded(event, wrap(handle)));
}
