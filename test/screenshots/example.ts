import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { startDiscordDouble } from '@parley/simulators/discord';
import { startTelegramDouble } from '@parley/simulators/telegram';
import { silenceLibsignal, startWhatsAppDouble } from '@parley/simulators/whatsapp';
import { linkWhatsApp } from '../e2e/channel-states.ts';
import { runCommand } from '../e2e/parley-process.ts';
import { sendMessage, startWebScene, untilAnswer, type WebScene } from '../e2e/web-scene.ts';
import { getMessageText } from '../model/chat-request.ts';

/**
 * A Parley with chats on every channel, some weeks of usage, jobs, a failed message and other
 * content for the views.
 */
export interface ExampleParley {
  readonly scene: WebScene;
  /** The address of a view; for some views, the address of a page that shows more than the list. */
  addressOf(view: string): string;
  /** Addresses that no navigation link leads to: single entries, and other forms of a view. */
  readonly deeper: readonly string[];
  close(): Promise<void>;
}

const DAY_MS = 24 * 60 * 60_000;
const ANN = 501;
const BO = 502;
const CLUB = -100_700;
const MIA = '200000000000000501';

const ANSWERS: readonly (readonly [RegExp, string])[] = [
  [
    /train/i,
    'The **14:32** from platform 3 is the next one; it takes 1 h 48 min.\n\n| leaves | arrives | changes |\n|---|---|---|\n| 14:32 | 16:20 | 0 |\n| 15:02 | 17:05 | 1 |',
  ],
  [
    /bread/i,
    'For one loaf:\n\n1. Mix 500 g flour, 340 g water and 10 g salt.\n2. Fold it four times, half an hour apart.\n3. Bake at 240 °C for 40 minutes.',
  ],
  [
    /script|code/i,
    'This prints every file that is larger than 10 MB:\n\n```bash\nfind . -type f -size +10M -exec ls -lh {} +\n```',
  ],
  [
    /meet|saturday/i,
    'Noted: Saturday at 10, by the greenhouse. I will remind you on Friday evening.',
  ],
  [/weather/i, 'Dry until four, then light rain. Take a jacket.'],
];

/** Starts Parley on doubles of all platforms, and lets people talk to it. */
export async function startExample(chromiumUrl: string): Promise<ExampleParley> {
  const noisy = silenceLibsignal();
  const [telegram, discord, whatsapp] = await Promise.all([
    startTelegramDouble(),
    startDiscordDouble(),
    startWhatsAppDouble(),
  ]);
  const scene = await startWebScene(chromiumUrl, {
    owners: [`telegram:${ANN}`],
    identity: { name: 'Parley' },
    agent: { timeZone: 'Europe/Berlin' },
    spend: { totalDaily: { usd: 2 }, perPersonDaily: { tokens: 200_000 } },
    channels: {
      telegram: {
        ...{ token: telegram.token, apiRoot: telegram.apiRoot },
        access: { direct: 'pairing', allow: [BO], allowGroups: [CLUB] },
      },
      discord: { token: discord.token, apiRoot: discord.apiRoot, access: { direct: 'open' } },
      whatsapp: { url: whatsapp.url, access: { direct: 'open' } },
    },
  });
  scene.model.reply(({ messages }) => {
    const asked = getMessageText(messages.at(-1)).split('\n').at(-1) ?? '';
    return ANSWERS.find(([word]) => word.test(asked))?.[1] ?? 'Done. Anything else?';
  });
  await linkWhatsApp(whatsapp, scene.parley);
  await discord.waitFor(() => discord.gateway().identifies > 0);
  writeFileSync(
    join(scene.folder.path, 'workspace/HEARTBEAT.md'),
    '## photos\n- every: 2 h\n- do: Look whether the backup of the photos is older than a day.\n\n## tomatoes\n- every: daily at 19:00\n- do: Remind me to water the tomatoes, if it has not rained.\n',
  );
  const ann = { id: ANN, first_name: 'Ann', last_name: 'Lindqvist' };
  const dora = whatsapp.addPerson({ name: 'Dora', number: '491500000777' });
  telegram.say({ chat: ANN, from: ann, text: 'When does the next train to Hamburg leave?' });
  whatsapp.say({ chat: dora.id, text: 'How do I bake bread with what is in the house?' });
  discord.say({
    channel: discord.dmWith(MIA),
    from: MIA,
    text: 'A script that finds large files?',
  });
  telegram.say({
    chat: { id: CLUB, type: 'supergroup', title: 'Garden club' },
    from: { id: 77, first_name: 'Theo' },
    text: `@${telegram.me.username} when do we meet on Saturday?`,
  });
  // A stranger waits for a pairing code, and an answer is refused.
  telegram.say({ chat: 503, from: { id: 503, first_name: 'Cleo' }, text: 'Hello?' });
  const description = 'Forbidden: bot was blocked by the user';
  telegram.fault({ kind: 'refuse', code: 403, description, method: 'sendMessage', chat: BO });
  telegram.say({ chat: BO, from: { id: BO, first_name: 'Bo' }, text: 'What is the weather like?' });
  await chatOnPage(scene);
  await createJobs(scene.folder.path);
  await waitUntilIdle(scene.folder.path);
  insertUsage(join(scene.folder.path, 'parley.db'));
  const conversation = encodeURIComponent(findNewestConversation(scene.folder.path, 'telegram'));
  const turn = findNewestTurn(scene.folder.path);
  const deeper: Readonly<Record<string, string>> = {
    list: '#/conversations',
    file: '#/files/HEARTBEAT.md',
    'prompt-of-turn': `#/prompt/${turn}`,
    'why-of-turn': `#/why/${turn}`,
    'settings-file': '#/settings/file',
  };
  const addresses: Readonly<Record<string, string>> = {
    conversations: `#/conversations/${conversation}`,
    chat: '#/',
    ...deeper,
  };
  return {
    scene,
    deeper: Object.keys(deeper),
    addressOf: (view) => addresses[view] ?? `#/${view}`,
    async close() {
      await scene.close();
      await Promise.all([telegram.close(), discord.close(), whatsapp.close()]);
      noisy();
    },
  };
}

/** The owner chats on the page. */
async function chatOnPage(scene: WebScene): Promise<void> {
  const page = await scene.open();
  for (const [text, answer] of [
    ['A script that lists large files, please', 'This prints every file'],
    ['When does the next train to Hamburg leave?', 'from platform 3'],
  ] as const) {
    await sendMessage(page, text);
    await untilAnswer(page, answer);
  }
  await page.context().close();
}

/** Jobs with a timetable; a renamed command must not prevent the screenshots. */
async function createJobs(data: string): Promise<void> {
  for (const [title, every, task] of [
    ['Morning news', '0 7 * * 1-5', 'Summarize the news of the night in five lines'],
    ['Club reminder', '0 18 * * 5', 'Remind everyone of Saturday at 10'],
  ] as const) {
    await runCommand(['cron', 'add', task, '--title', title, '--cron', every, '--data', data]);
  }
}

/** Waits until no message is waiting and no part is pending; at most half a minute. */
async function waitUntilIdle(data: string): Promise<void> {
  for (let tries = 0; tries < 60; tries += 1) {
    await sleep(500);
    const database = new DatabaseSync(join(data, 'parley.db'), { readOnly: true });
    const row = database
      .prepare(
        "select (select count(*) from inbox where state <> 'done') + (select count(*) from outbox where state in ('pending', 'sending')) as open, (select count(distinct channel) from inbox) as channels",
      )
      .get();
    database.close();
    if (row?.open === 0 && row.channels === 4) return;
  }
}

function findNewestConversation(data: string, channel: string): string {
  const database = new DatabaseSync(join(data, 'parley.db'), { readOnly: true });
  const found = database
    .prepare(
      'select conversation_id as id from inbox where channel = ? and chat_id = ? order by seq desc',
    )
    .get(channel, String(ANN));
  database.close();
  return String(found?.id ?? '');
}

/** A turn with its own prompt, for the views of one turn. */
function findNewestTurn(data: string): string {
  const database = new DatabaseSync(join(data, 'parley.db'), { readOnly: true });
  const found = database
    .prepare(
      "select id from turn where state = 'answered' and id not like 'turn_s%' order by started_at desc",
    )
    .get();
  database.close();
  return String(found?.id ?? '');
}

/**
 * Fills in four weeks of earlier usage, the same in each run except for its dates, and a name for a
 * Discord user.
 */
function insertUsage(path: string): void {
  const database = new DatabaseSync(path, { timeout: 5_000 });
  database.exec(
    `update inbox set message = json_set(message, '$.sender.name', 'Mia') where channel = 'discord'`,
  );
  const chats = database.prepare('select distinct conversation_id as id, channel from inbox').all();
  const insert = database.prepare(`
    insert into turn (id, conversation_id, session, state, attempts, model, input_tokens, output_tokens,
      cached_tokens, cost_usd, started_at, asked_at, finished_at, person_id)
    values (?, ?, 0, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  for (let ago = 1; ago <= 28; ago += 1) {
    for (const [nth, { id, channel }] of chats.entries()) {
      const wave = 2 + Math.sin(ago / 2 + nth) + ((ago * 7 + nth * 3) % 5) / 4;
      const count = (ago + nth) % 7 === 0 ? 0 : Math.round(wave);
      for (let turn = 0; turn < count; turn += 1) {
        const at = Date.now() - ago * DAY_MS + turn * 600_000;
        const input = Math.round(2_000 * wave);
        insert.run(
          ...[
            `turn_s${ago}x${nth}x${turn}`,
            String(id),
            turn === 3 && ago % 6 === 0 ? 'failed' : 'answered',
          ],
          ...[
            nth % 2 === 0 ? 'large' : 'small',
            input,
            Math.round(input / 6),
            Math.round(input / 2),
          ],
          ...[input / 90_000, at, at, at + Math.round(1_400 * wave), `${channel}:${nth + 1}`],
        );
      }
    }
  }
  database.close();
}
