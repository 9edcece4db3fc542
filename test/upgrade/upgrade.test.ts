import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '@parley/store';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { startParleyHere, type TestParley } from '../e2e/parley-here.ts';
import { runCommand } from '../e2e/parley-process.ts';
import { webClient } from '../e2e/web-client.ts';
import { textOf } from '../model/chat-request.ts';
import { CLEO, DORA } from './earlier-work.ts';
import { OWNER, SECOND_OWNER } from './later-work.ts';
import { type LeftWork, openLeftWork } from './left-work.ts';
import { nameOf, numbersIn } from './model-words.ts';
import { changedMeanings, resolveAll, storedResolved } from './resolved-settings.ts';
import { openWorld, type World } from './world.ts';

const [postgresUrl, redisUrl] = [inject('postgresUrl'), inject('redisUrl')];
const FIXTURES = join(import.meta.dirname, 'fixtures');
/** All chats of Telegram in the fixture: a bot may only write where it is known. */
const CHATS = [SECOND_OWNER, OWNER, 502, 503, 504, 999, -5, -7];
const CHATS_OF_WORK = Array.from({ length: 11 }, (_, nth) => 601 + nth);

/** Questions in the backup to which no answer was made. */
const UNANSWERED = [
  'q10',
  'q11',
  'q12',
  'q13',
  'q14',
  'q16',
  'q17',
  'q20',
  'q25',
  'q26',
  'q28',
  'q32',
  'q33',
  'q42',
];

const DATABASES = [
  { name: 'SQLite', servers: null, isThere: true },
  {
    name: 'PostgreSQL',
    servers: { postgresUrl: postgresUrl ?? '', redisUrl: redisUrl ?? '' },
    isThere: postgresUrl !== null && redisUrl !== null,
  },
] as const;

for (const version of readdirSync(FIXTURES)) {
  const fixture = join(FIXTURES, version);

  describe(`the settings of ${version}`, () => {
    it('[D12] keep the meaning of each name and word, or say in which other setting it is now', () => {
      const now = resolveAll(join(fixture, 'settings'));
      const before = storedResolved(join(fixture, 'settings'));
      expect(Object.keys(now)).toEqual(Object.keys(before));
      const changed = Object.entries(before).flatMap(([name, values]) =>
        changedMeanings(values, now[name] ?? {}).map((line) => `${name}: ${line}`),
      );
      expect(changed).toEqual([]);
    });
  });

  describe(`the backup of ${version}`, () => {
    it('[D06] is restored into an empty folder, where all that was unfinished can be asked again', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'parley-upgrade-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const data = ['--data', folder];
      const restored = await runCommand([...data, 'restore', join(fixture, 'backup.tar.gz')]);
      expect([restored.code, restored.err]).toEqual([0, '']);
      const dead = await runCommand([...data, 'dead', 'list', '--json']);
      const { letters } = Letters.parse(JSON.parse(dead.out));
      const inLetters = (kind: string) =>
        letters
          .filter((letter) => letter.kind === kind)
          .flatMap((letter) => numbersIn(JSON.stringify(letter)));
      expect(inLetters('unanswered').toSorted()).toEqual(UNANSWERED);
      expect(inLetters('uncertain').toSorted()).toEqual(['q23', 'q24', 'q27', 'q29', 'q9']);
      expect(inLetters('refused')).toEqual(['q8']);
      const memory = join(folder, 'workspace/memory/user.md');
      expect(readFileSync(memory, 'utf8')).toContain('I like green tea.');
      expect(readFileSync(join(folder, 'parley.yaml'), 'utf8')).toContain('./plugins/games');
    });
  });

  for (const { name, servers, isThere } of DATABASES) {
    describe.runIf(isThere)(`the installation of ${version} on ${name}, killed at work`, () => {
      finishesWork(fixture, servers);
    });
  }
}

const Status = z.looseObject({
  channels: z.array(
    z.looseObject({ channel: z.string(), state: z.looseObject({ kind: z.string() }) }),
  ),
});
const Letters = z.object({ letters: z.array(z.looseObject({ kind: z.string() })) });

/** The tests of one installation: one start of Parley for all of them. */
function finishesWork(fixture: string, servers: Parameters<typeof openLeftWork>[2]): void {
  let world: World;
  let left: LeftWork;
  let parley: TestParley;
  beforeAll(async () => {
    world = await openWorld();
    left = await openLeftWork(fixture, world, servers);
    for (const chat of [...CHATS, ...CHATS_OF_WORK]) world.telegram.promote(chat, OWNER);
    parley = await startParleyHere(left.data, { clock: left.clock });
  });
  afterAll(async () => {
    await parley?.discard();
    await world?.close();
    await left?.remove();
  });

  const cli = async (...args: string[]): Promise<string> => {
    const { out, err } = await runCommand(['--data', left.data, ...args]);
    return out + err;
  };
  const said = (chat: number): readonly string[] =>
    world.telegram.conversation(chat).flatMap(({ from, text }) => (from === 'bot' ? [text] : []));
  /** Numbers of the questions that were answered in a chat, in the order of the answers. */
  const answered = (chat: number) => answeredIn(said(chat));
  const inRoom = (room: keyof World['rooms']) =>
    answeredIn(
      world.discord
        .sends()
        .flatMap(({ route, content }) =>
          'channelId' in route && route.channelId === world.rooms[room] ? [content] : [],
        ),
    );
  const sayOnDiscord = (from: string, text: string) =>
    world.discord.say({ channel: world.discord.dmWith(from), from, text });
  const requestsFor = (name: string) =>
    world.model.requests.filter(({ body }) => nameOf(body) === name);
  /** How often the model was asked that, and all that it was told with it. */
  const asked = (name: string) => requestsFor(name).length;
  const textTo = (name: string) => requestsFor(name)[0]?.body.messages.map(textOf).join('\n');
  /** Somebody writes; the numbers of these messages are none that the platform of before has used. */
  let written = 90_000;
  const write = (chat: number, text: string, person = chat): void => {
    written += 1;
    const from = { id: person, is_bot: false, first_name: `User ${person}` };
    const [first = ''] = text.split(' ');
    const type = { '/': 'bot_command', '@': 'mention' }[text[0] ?? ''];
    const entities = type === undefined ? [] : [{ type, offset: 0, length: first.length }];
    const place =
      chat < 0
        ? { id: chat, type: 'group', title: 'Group' }
        : { id: chat, type: 'private', first_name: from.first_name };
    const date = Math.floor(Date.now() / 1000);
    const message = { message_id: written, from, chat: place, date, text, entities };
    world.telegram.update('message', message);
  };

  const ask = (path: string, init: RequestInit = {}, token = parley.token) =>
    fetch(`${parley.address}${path}`, { ...init, headers: { authorization: `Bearer ${token}` } });
  async function stateOf(channel: string): Promise<string | undefined> {
    const { channels } = Status.parse(await (await ask('/api/status')).json());
    return channels.find((one) => one.channel === channel)?.state.kind;
  }
  /** Writes on the board of the plugin's channel; the status. What stands there. */
  const pin = async (text: string): Promise<number> => {
    const body = JSON.stringify({ id: text, from: 'bo', text });
    return (await ask('/channels/board/default/', { method: 'POST', body })).status;
  };
  const board = async () => (await ask('/channels/board/default/')).text();

  it('[D01] [D02] answers each message that waited once, in the order in which it was written', async () => {
    await expect.poll(() => answered(603)).toEqual(['q12', 'q13', 'q14', 'q15']);
    await expect.poll(() => answered(604)).toEqual(['q18']);
    await expect.poll(() => answered(609)).toEqual(['q25']);
    await expect.poll(() => answered(610)).toEqual(['q26']);
    await expect.poll(() => inRoom('busy')).toEqual(['q16', 'q17']);
    const inWeb = async () => (await webClient(parley).history()).join('\n');
    await expect.poll(inWeb).toContain('This answers q28.');
    await expect.poll(() => asked('q42')).toBe(1);
  });

  it('[G16] resumes a running turn from its journal, and repeats no effect of its calls', async () => {
    await expect.poll(() => answered(601)).toEqual(['q10']);
    await expect.poll(() => answered(602)).toEqual(['q11']);
    expect(said(601).join()).toContain('Whether it took effect is not known');
    expect(said(602).join()).toContain('It rang for q11.');
    expect([asked('q10'), asked('q10 then'), asked('q11'), asked('q11 then')]).toEqual([
      0, 1, 0, 1,
    ]);
    expect(left.rings()).toEqual(['q10', 'q11']);
  });

  it('[G05] takes the decision and the choice that people were asked for, and goes on with both turns', async () => {
    const file = join(left.data, 'workspace/notes/birds.md');
    write(SECOND_OWNER, `/approve ${left.made.approval}`);
    write(605, 'Blue');
    await expect.poll(() => answered(SECOND_OWNER)).toEqual(['q33']);
    await expect.poll(() => answered(605)).toEqual(['q20']);
    expect(readFileSync(file, 'utf8')).toContain('Parrots talk.');
    expect(said(605).join()).toContain('Blue');
    expect([asked('q33'), asked('q20')]).toEqual([0, 0]);
  });

  it('[G07] [H01] [H08] [H09] ends the sub-agent, the standing task, the event and the jobs, each once', async () => {
    await expect.poll(() => answered(606)).toEqual(['q22']);
    await expect.poll(() => answered(-7)).toEqual(['q32', 'q30']);
    const alert = '⚙️ The landlord asks for an answer today.';
    await expect.poll(() => said(OWNER).filter((text) => text === alert)).toHaveLength(1);
    await expect.poll(() => answered(OWNER)).toEqual(expect.arrayContaining(['q27', 'q41']));
    expect([asked('task q22'), asked('mail'), asked('q41')]).toEqual([1, 1, 1]);
    expect(said(OWNER).join()).not.toContain('dentist');
  });

  it('[D04] [D05] sends what was pending once, and does not repeat what may have arrived', async () => {
    await expect.poll(() => answered(607)).toEqual(['q23']);
    await expect.poll(() => inRoom('sending')).toEqual(['q29']);
    const files = () => ['sendPhoto', 'sendDocument'].flatMap((name) => world.telegram.calls(name));
    await expect.poll(files).toHaveLength(1);
    await expect.poll(() => said(608)).toHaveLength(1);
    expect(said(608)[0]).toMatch(/^⚙️/);
    // Of before: it failed, and it may have arrived, which that chat knows.
    expect([said(503), said(504)]).toEqual([[], []]);
  });

  it('[P16] uses each part of the plugin: tool, skill, layer, hook, source and channel', async () => {
    writeFileSync(join(left.data, 'workspace/house-rules.md'), 'Be fair.');
    write(607, 'q51 tool ring_bell {"who":"q51"}');
    await expect.poll(() => answered(607)).toEqual(['q23', 'q51']);
    expect(left.rings()).toEqual(['q10', 'q11', 'q51']);
    for (const words of ['## Games', 'fair-play', 'The lucky number of today is', 'House rules'])
      expect(textTo('q51')).toContain(words);
    expect(await stateOf('board')).toBe('paused');
    await cli('channels', 'resume', 'board');
    await expect.poll(() => stateOf('board')).toBe('connected');
    expect(await pin('q52 hello')).toBe(202);
    await expect.poll(board).toContain('This answers q52.');
  });

  it('[D06] [D08] [F05] [U10] knows who may write, what failed, why, and who is signed in', async () => {
    const { letters } = Letters.parse(JSON.parse(await cli('dead', 'list', '--json')));
    expect(letters.map(({ kind }) => kind).toSorted()).toEqual([
      'refused',
      'uncertain',
      'uncertain',
    ]);
    expect(await cli('why', left.made.answered)).toContain('double');
    expect(await cli('why', left.made.refused)).toContain('group');
    expect(await cli('pair')).toContain('User 999');
    expect(await cli('memory', 'list')).toContain('I like green tea.');
    for (const token of [left.made.viewer, left.made.session])
      expect((await ask('/api/status', {}, token)).status).toBe(200);
    write(502, 'q50 am I known?');
    await expect.poll(() => answered(502)).toEqual(['q50']);
  });

  it('[G04] [G11] [G12] [G14] [F06] [F13] knows what was said, noted, chosen and linked before', async () => {
    write(OWNER, 'q53 where do I get green tea?');
    await expect.poll(() => answered(OWNER)).toContain('q53');
    const known = textTo('q53');
    for (const words of [
      'They talked.',
      'This answers q4.',
      '[~] Buy green tea',
      'I like green tea.',
    ])
      expect(known).toContain(words);
    write(-5, `@${world.telegram.me.username} q54 hello`, 502);
    await expect.poll(() => answered(-5)).toEqual(['q54']);
    expect(textTo('q54')).toContain('The weather is fine.');
    write(502, '/mode');
    await expect.poll(() => said(502).at(-1)).toMatch(/\bask\b/);
    expect(requestsFor('q33 then').map(({ body }) => body.model)).toEqual(['double-two']);
    write(OWNER, `/link ${left.linkCode}`);
    await expect.poll(() => said(OWNER).at(-1)).toContain('Linked');
    // From now on an account of the owner's, in one conversation with the other.
    sayOnDiscord(DORA, 'q55 hello');
    await expect.poll(() => asked('q55')).toBe(1);
    write(OWNER, 'q56 hello');
    await expect.poll(() => asked('q56')).toBe(1);
    expect(textTo('q56')).toContain('This answers q55.');
    sayOnDiscord(CLEO, '/link off');
    const onDiscord = () => world.discord.sends().map(({ content }) => content);
    await expect.poll(() => onDiscord().join()).toContain('is not linked any more');
  });

  it('[D06] [H08] [W06] [U07] goes on with letters, jobs and proposals, and counts what was spent', async () => {
    await cli('dead', 'replay', '--all');
    await expect.poll(() => answered(503)).toEqual(['q8']);
    await cli('soul', 'apply', '1');
    expect(readFileSync(join(left.data, 'workspace/SOUL.md'), 'utf8')).toContain('Whistle');
    expect(await cli('cron', 'list')).toMatch(
      /q31 .*; next [\s\S]*q32 .*; over; [\s\S]*q30 .*; over; /,
    );
    expect(await cli('heartbeat')).toMatch(
      /mail .*\n.*sent to you[\s\S]*calendar .*\n.*held until 23:59/,
    );
    expect(await cli('hooks')).toMatch(/^ci: job for .*, sent\n$/);
    expect(await (await ask('/api/usage?by=person')).text()).toContain('telegram:501');
  });

  it('[D01] leaves nothing undone and says nothing twice', async () => {
    const store = await openStore({ url: left.storeUrl, clock: left.clock });
    onTestFinished(() => store.close());
    const counts = async () => {
      const { pending, sending } = await store.outbox.counts();
      return { pending, sending, waiting: await store.inbox.waitingInAll() };
    };
    await expect.poll(counts).toEqual({ pending: 0, sending: 0, waiting: 0 });
    const all = [...CHATS, ...CHATS_OF_WORK].flatMap((chat) => answered(chat));
    expect(all.toSorted()).toEqual([...new Set(all)].toSorted());
    expect(all).toHaveLength(23);
  });
}

function answeredIn(texts: readonly string[]): readonly string[] {
  return texts
    .filter((text) => /^(⚙️ )?This answers/.test(text))
    .flatMap((text) => numbersIn(text.split('.')[0] ?? ''));
}
