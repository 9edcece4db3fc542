import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANSWERS } from './channels/answers.ts';
import type { Behaviour } from './channels/behaviour.ts';
import { COMMANDS } from './channels/commands.ts';
import { CONVERSATIONS } from './channels/conversations.ts';
import { discordPeer } from './channels/discord-peer.ts';
import type { Peer } from './channels/peer.ts';
import { RESTARTS } from './channels/restarts.ts';
import { type Scene, startScene } from './channels/scene.ts';
import { telegramPeer } from './channels/telegram-peer.ts';
import { TROUBLES } from './channels/troubles.ts';
import { whatsappPeer } from './channels/whatsapp-peer.ts';

const TABLE: readonly Behaviour[] = [
  ...CONVERSATIONS,
  ...COMMANDS,
  ...ANSWERS,
  ...TROUBLES,
  ...RESTARTS,
];
const PEERS: readonly [name: string, make: () => Promise<Peer>, lacks: readonly string[]][] = [
  ['Telegram', telegramPeer, ['deletes', 'idempotent']],
  ['Discord', discordPeer, ['format-refused']],
  [
    'WhatsApp',
    whatsappPeer,
    [
      ...['threads', 'albums', 'documents', 'bots'],
      ...['rate-limited', 'server-error', 'format-refused', 'thrown-out'],
    ],
  ],
];

describe.each(PEERS)('what every platform does: %s', (_, makePeer, lacks) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startScene(makePeer);
  }, 60_000);
  afterAll(() => scene?.close());

  for (const { title, needs = [], run } of TABLE) {
    if (needs.some((trait) => lacks.includes(trait))) continue;
    it(title, async () => {
      await run(scene);
      expect(scene.leaks()).toEqual([]);
    }, 90_000);
  }

  it('[F04] has no other traits than the table was run for', () => {
    for (const trait of lacks) expect([...scene.peer.traits]).not.toContain(trait);
  });
});
