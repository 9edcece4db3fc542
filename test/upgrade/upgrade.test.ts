import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '@parley/store';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { startParleyHere, type TestParley } from '../e2e/parley-here.ts';
import { runCommand } from '../e2e/parley-process.ts';
import { webClient } from '../e2e/web-client.ts';
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
      expect((await runCommand([...data, 'memory', 'list'])).out).toContain('I like green tea.');
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
  /** How often the model was asked that. */
  const asked = (name: string) =>
    world.model.requests.filter(({ body }) => nameOf(body) === name).length;
  /** Somebody writes; the numbers of these messages are none that the platform of before has used. */
  let written = 90_000;
  const write = (chat: number, text: string): void => {
    written += 1;
    const from = { id: chat, is_bot: false, first_name: `User ${chat}` };
    const entities = text.startsWith('/')
      ? [{ type: 'bot_command', offset: 0, length: text.indexOf(' ') }]
      : [];
    const place = { id: chat, type: 'private', first_name: `User ${chat}` };
    const date = Math.floor(Date.now() / 1000);
    world.telegram.update('message', {
      message_id: written,
      from,
      chat: place,
      date,
      text,
      entities,
    });
  };

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

  it('[P16] loads the plugin, with all that it brings', async () => {
    expect(await cli('plugins')).toContain(
      '✓ games-table 0.1.0 brings tools roll_dice and ring_bell, skills in',
    );
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
    expect(await cli('soul', 'list')).toContain('v1');
    expect(await cli('cron', 'list')).toContain('q31 stretch');
    for (const token of [left.made.viewer, left.made.session]) {
      const headers = { authorization: `Bearer ${token}` };
      expect((await fetch(`${parley.address}/api/status`, { headers })).status).toBe(200);
    }
    write(502, 'q50 am I known?');
    await expect.poll(() => answered(502)).toEqual(['q50']);
    const headers = { authorization: `Bearer ${parley.token}` };
    const status = await (await fetch(`${parley.address}/api/status`, { headers })).json();
    const board = Status.parse(status).channels.find(({ channel }) => channel === 'board');
    expect(board?.state.kind).toBe('paused');
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
    expect(all).toHaveLength(18);
  });
}

function answeredIn(texts: readonly string[]): readonly string[] {
  return texts
    .filter((text) => /^(⚙️ )?This answers/.test(text))
    .flatMap((text) => numbersIn(text.split('.')[0] ?? ''));
}
