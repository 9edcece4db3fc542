import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';

type Wire = WASocket['ws'];

/**
 * Puts two things right on a new socket. Baileys begins with a message before it is done with the
 * one before, and a writer it has to look up is overtaken by one it knows: here messages are worked
 * on one by one. And bytes that it cannot decrypt reject a promise that nobody holds, which would
 * end the process: here they end the connection.
 */
export function orderSocket(
  ws: Wire,
  note: (stanza: BinaryNode) => void,
  breakOff: (reason: unknown) => void,
): void {
  takeOver<unknown>(ws, 'message', (handle) => (data) => {
    handle(data).catch(breakOff);
  });
  let line: Promise<void> = Promise.resolve();
  takeOver<BinaryNode>(ws, 'CB:message', (handle) => (stanza) => {
    note(stanza);
    line = line.then(() => (ws.isOpen ? handle(stanza) : undefined)).catch(breakOff);
  });
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
  ws.on(event, wrap(handle));
}
