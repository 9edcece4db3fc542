import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InboundMessage, type Reader } from '@parley/core';
import { type AbsentSkill, openSkills, type Skills, type SkillText } from '@parley/workspace';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openToolScene, type ToolScene } from '../testing/tool-scene.ts';
import {
  createLoadSkillTool,
  createSkillsSource,
  type SkillsSource,
  type SkillTurn,
} from './skills.ts';

const OWNER: Reader = { kind: 'owner', conversationId: 'c' };
const GUEST: Reader = { kind: 'guest', conversationId: 'c' };

let folder: string;
let skills: Skills;
let looks: number;
let source: SkillsSource;
/** The values fixed for the session, as the database would store them. */
let pins: Map<string, string>;

function write(name: string, body: string, more = ''): void {
  mkdirSync(join(folder, name), { recursive: true });
  const front = `name: ${name}\ndescription: When ${name} is wanted.\n${more}`;
  writeFileSync(join(folder, name, 'SKILL.md'), `---\n${front}---\n${body}\n`);
}

function turn(reader: Reader, texts: readonly string[] = ['hello'], session = 1): SkillTurn {
  return {
    conversationId: reader.conversationId,
    session,
    reader,
    messages: texts.map((text, index) =>
      InboundMessage.parse({
        channel: 'test',
        account: 'default',
        messageId: `m${index}`,
        chat: { id: '1', type: 'direct' },
        sender: { id: '1', name: 'Ann', isBot: false },
        text,
        addressed: true,
        sentAt: 0,
      }),
    ),
    async fix(key, value, schema) {
      const place = [session, reader.kind, key].join();
      const kept = pins.get(place) ?? JSON.stringify(value);
      pins.set(place, kept);
      return schema.parse(JSON.parse(kept));
    },
  };
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-skills-source-'));
  looks = 0;
  pins = new Map();
  const real = openSkills({
    folders: [{ source: 'bundled', root: folder, within: [] }],
    settings: {
      block: [],
      show: 'outline',
      max: 150,
      maxCharacters: 30_000,
      maxFileBytes: 256_000,
    },
    facts: () => ({ os: 'linux', env: {}, settings: {}, tools: new Set() }),
    reserved: [],
    home: folder,
  });
  skills = {
    ...real,
    snapshot: (reader) => {
      looks += 1;
      return real.snapshot(reader);
    },
  };
  source = createSkillsSource(skills);
  write('plan-trip', 'Plan it.');
  write('secret', 'The secret way.', 'audience: owner\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a session’s skills', () => {
  it('[S07] [S09] do not change until the next session, and are read once', async () => {
    const before = (await source.gather(turn(OWNER))).skills;
    write('new-one', 'x');
    expect((await source.gather(turn(OWNER))).skills).toEqual(before);
    expect(looks).toBe(1);
    const after = (await source.gather(turn(OWNER, ['hello'], 2))).skills;
    expect(before?.names).toEqual(['plan-trip', 'secret']);
    expect(after?.names).toEqual(['new-one', 'plan-trip', 'secret']);
  });

  it('[S07] do not change when another process continues the session', async () => {
    const before = (await source.gather(turn(OWNER))).skills;
    write('new-one', 'x');
    expect((await createSkillsSource(skills).gather(turn(OWNER))).skills).toEqual(before);
  });

  it('[W03] [S07] differ from the owner’s when another person reads the same chat', async () => {
    await source.gather(turn(OWNER));
    const guest = (await source.gather(turn(GUEST))).skills;
    expect([guest?.names, guest?.audience]).toEqual([['plan-trip'], { kind: 'everyone' }]);
    expect(JSON.stringify(guest)).not.toContain('secret');
  });
});

describe('a skill invoked by command', () => {
  const called = async (reader: Reader, ...texts: string[]) =>
    (await source.gather(turn(reader, texts))).calledSkills;

  it('[S08] is in that turn’s prompt with its current text and audience', async () => {
    await source.gather(turn(OWNER));
    write('plan-trip', 'Plan it anew.');
    const everyone = { kind: 'everyone' };
    expect(await called(GUEST, '/plan_trip Rome in May')).toEqual([
      { text: 'Plan it anew.', source: 'skill plan-trip', audience: everyone },
    ]);
    expect(await called(GUEST, 'no command')).toBeUndefined();
    expect(await called(OWNER, '/secret')).toMatchObject([{ audience: { kind: 'owner' } }]);
  });

  it('[S08] [W03] is ordinary text if the reader cannot see a skill with that name', async () => {
    expect(await called(GUEST, '/secret')).toBeUndefined();
    expect(await called(GUEST, '/dance')).toBeUndefined();
  });

  it('[S08] appears once even if a burst invokes it repeatedly, and at most three skills are included', async () => {
    for (const name of ['a', 'b', 'c', 'd']) write(name, name);
    const parts = await called(GUEST, '/a 1', '/a 2', '/dance', '/b', '/c', '/d');
    expect(parts?.map(({ text }) => text)).toEqual(['a', 'b', 'c']);
  });

  it('[P10] is truncated at 30,000 characters, with a note', async () => {
    write('long', 'x'.repeat(40_000));
    const [part] = (await called(GUEST, '/long')) ?? [];
    expect(part?.text).toContain('first 30,000 of 40,000 characters of skill long');
  });
});

describe('load_skill', () => {
  let scene: ToolScene;
  beforeEach(async () => {
    scene = await openToolScene();
  });
  afterEach(() => scene.close());

  const asked: unknown[] = [];
  const load = createLoadSkillTool({
    async read(name, reader, file): Promise<SkillText | AbsentSkill> {
      asked.push([name, reader.kind, file]);
      if (name !== 'tea') return { kind: 'absent', reason: 'unknown', detail: 'There is no x.' };
      return { kind: 'skill', name, text: 'Boil.', source: 'tea', audience: { kind: 'everyone' } };
    },
  });

  it('[S06] returns the text of a skill to a reader who may see it', async () => {
    expect(await scene.use(load, { name: 'tea', file: 'a.md' }, 'guest')).toEqual({
      text: 'Boil.',
    });
    expect(asked.at(-1)).toEqual(['tea', 'guest', 'a.md']);
  });

  it('[S06] states why a skill is missing', async () => {
    const outcome = await scene.use(load, { name: 'x' });
    expect(outcome).toEqual({ text: 'There is no x.', failed: true });
  });
});
