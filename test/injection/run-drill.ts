import type { TurnKey } from './attack.ts';
import type { Drill } from './drill.ts';

/**
 * A turn that lasts longer than this (ms) hangs; the limit is generous because a busy machine is
 * slow.
 */
const TURN_WITHIN_MS = 40_000;
/** Sent messages become visible shortly after the model has answered. In ms. */
const POLL_INTERVAL_MS = 25;

/** Runs one attack to its end: until every message has been answered or waits for approval. */
export async function runDrill(drill: Drill): Promise<void> {
  const { turns } = drill.attack;
  for (const key of ['1', '2', '3'] as const) {
    const turn = turns[key];
    if (turn === undefined) continue;
    const before = listBotMessages(drill).length;
    turn.write?.(drill);
    await waitUntil(drill, key, () => isOver(drill, key, before));
  }
}

function isOver(drill: Drill, key: TurnKey, before: number): boolean {
  const over = drill.attack.turns[key]?.until;
  if (over !== undefined) return over(drill);
  return (
    isAsking(drill) || (drill.deeds.answered.has(key) && listBotMessages(drill).length > before)
  );
}

/** Whether the turn waits for an approval. */
export function isAsking(drill: Drill): boolean {
  return listBotMessages(drill).some((text) => ASKING.test(text));
}

const ASKING = /may I use|I need my owner’s yes/i;

/** Everything that the bot has written in the chats of this drill. */
export function listBotMessages(drill: Drill): readonly string[] {
  const chats = ['owner', 'stranger', 'group', 'otherGroup'] as const;
  return chats.flatMap((where) => drill.seen(where).map(({ text }) => text));
}

async function waitUntil(drill: Drill, key: TurnKey, isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + TURN_WITHIN_MS;
  while (!isSo()) {
    if (Date.now() > deadline) {
      const { asked, heard } = drill.deeds;
      const facts = JSON.stringify({ asked, heard, seen: listBotMessages(drill) });
      throw new Error(`Turn ${key} of ${drill.attack.id} has not ended: ${facts}`);
    }
    await new Promise((wake) => setTimeout(wake, POLL_INTERVAL_MS));
  }
}
