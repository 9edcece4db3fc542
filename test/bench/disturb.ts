import { setTimeout as pause } from 'node:timers/promises';
import type { TelegramDouble } from '../platforms/telegram/telegram-double.ts';
import type { Disturbance } from './orders.ts';

/** Where the disturbances take place; no quiet person is there. */
const FLOODING = 20_001;
const LIMITED = 20_002;
const SLOW_FROM = 21_000;
/** A group that the bot serves. */
export const LIMITED_GROUP = -7;

/** How often the one who floods writes a handful. */
const HANDFUL_MS = 50;

/** Begins it, and returns when what can be done at once is done. */
export function disturb(double: TelegramDouble, disturbance: Disturbance): void {
  switch (disturbance.kind) {
    case 'flood':
      void flood(double, disturbance.messages, disturbance.perSecond);
      break;
    case 'slow-model':
      for (let chat = 0; chat < disturbance.chats; chat += 1) {
        const text = `Please think for ${disturbance.seconds} s about this.`;
        double.say({ chat: SLOW_FROM + chat, text });
      }
      break;
    case 'limited':
      limit(double, disturbance.place, disturbance.seconds);
  }
}

async function flood(double: TelegramDouble, messages: number, perSecond: number): Promise<void> {
  const handful = Math.ceil((perSecond * HANDFUL_MS) / 1_000);
  for (let written = 0; written < messages; ) {
    for (let one = 0; one < handful && written < messages; one += 1) {
      written += 1;
      double.say({ chat: FLOODING, text: `And another thing, number ${written}` });
    }
    await pause(HANDFUL_MS);
  }
}

/** Whoever sends there is told how long is left; the people there write all the time. */
function limit(double: TelegramDouble, place: 'person' | 'group', seconds: number): void {
  const chat = place === 'person' ? LIMITED : LIMITED_GROUP;
  const over = Date.now() + seconds * 1_000;
  const refuse = (): void => {
    const left = Math.ceil((over - Date.now()) / 1_000);
    double.clearFaults();
    if (left <= 0) return;
    const description = `Too Many Requests: retry after ${left}`;
    const parameters = { retry_after: left };
    double.fault({ kind: 'refuse', code: 429, chat, times: 1e6, description, parameters });
    setTimeout(refuse, 1_000);
  };
  refuse();
  const text = place === 'person' ? 'Are you there?' : `@${double.me.username} are you there?`;
  const write = (): void => {
    double.say({ chat, from: LIMITED, text });
    if (Date.now() < over) setTimeout(write, 1_000);
  };
  write();
}
