import { z } from 'zod';
import type { WireUpdate } from './wire-message.ts';

const Placed = z.object({ chat: z.object({ id: z.int() }) });
const Pressed = z.object({ message: Placed });

/** What belongs to one chat is taken in order; anything else has nothing to wait for. */
export function laneOf(update: WireUpdate): string {
  const { update_id, ...contents } = update;
  const [content] = Object.values(contents);
  const pressed = Pressed.safeParse(content);
  const placed = Placed.safeParse(pressed.success ? pressed.data.message : content);
  return placed.success ? String(placed.data.chat.id) : `update ${update_id}`;
}
