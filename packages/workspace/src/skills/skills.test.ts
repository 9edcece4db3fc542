import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openWorkspace, type Workspace } from '../open-workspace.ts';
import { listSkillFolders, type SkillSource } from './find-skills.ts';
import type { SkillSettings } from './skills.ts';
import {
  createSkillText,
  GUEST,
  OWNER,
  openSkillsScene,
  type SkillsScene,
} from './testing/skills-scene.ts';

let scene: SkillsScene;
beforeEach(async () => {
  scene = await openSkillsScene();
});
afterEach(() => scene.remove());

const SOURCES: readonly SkillSource[] = [
  'extra',
  'bundled',
  'managed',
  'personal',
  'project',
  'workspace',
];

describe('the six skill sources', () => {
  it.each(SOURCES.slice(1).map((source, index) => [source, SOURCES[index] ?? 'extra'] as const))(
    '[S02] %s wins over %s by name',
    async (stronger, weaker) => {
      // The weaker skill is written last, and into a folder that sorts later.
      await scene.write(stronger, 'a', createSkillText('trip', '', `from ${stronger}`));
      await scene.write(weaker, 'z', createSkillText('Trip', '', `from ${weaker}`));
      const skills = scene.open();
      expect(await skills.read('trip', GUEST)).toMatchObject({ text: `from ${stronger}` });
      const states = (await skills.list()).map(({ source, state }) => `${source} ${state}`);
      expect(states.sort()).toEqual([`${stronger} ready`, `${weaker} shadowed`].sort());
    },
  );

  it('[S02] [S05] are shown in the catalog with the home folder written as ~, the strongest first', async () => {
    await scene.write('personal', 'b', createSkillText('b'));
    await scene.write('workspace', 'c', createSkillText('c'));
    await scene.write('bundled', 'a', createSkillText('a'));
    const { catalogue, names } = await scene.open().snapshot(OWNER);
    expect(names).toEqual(['c', 'b', 'a']);
    expect(catalogue).toContain('<location>~/.agents/skills/b/SKILL.md</location>');
    const real = await realpath(scene.base);
    expect(catalogue).toContain(`<location>${real}/workspace/skills/c/SKILL.md</location>`);
    const { catalogue: ofGuest } = await scene.open().snapshot(GUEST);
    expect(ofGuest.match(/<location>[^<]*/g)).toEqual(
      ['skills/c', 'personal/b', 'bundled/a'].map((place) => `<location>${place}/SKILL.md`),
    );
  });

  it('[S02] may be folders that do not exist', async () => {
    expect(await scene.open().list()).toEqual([]);
    expect((await scene.open().snapshot(OWNER)).catalogue).toBe('');
  });

  it('[S02] count a folder that belongs to two sources once, as the stronger one', async () => {
    const home = join(scene.base, 'home');
    const folders = listSkillFolders({
      extra: [],
      bundled: join(scene.base, 'none'),
      data: join(scene.base, 'none'),
      home,
      project: home,
      workspace: join(scene.base, 'none'),
    });
    await scene.write('personal', 'a', createSkillText('a'));
    const all = await scene.open({}, { folders }).list();
    expect(all.map(({ source, state }) => [source, state])).toEqual([['project', 'ready']]);
  });
});

describe('usable skills', () => {
  it('[S03] block wins over allow, and neither is case-sensitive', async () => {
    for (const name of ['a', 'b', 'c']) await scene.write('bundled', name, createSkillText(name));
    const settings = { allow: ['A', 'b'], block: ['B'] };
    const states = (await scene.open(settings).list()).map(({ name, state }) => [name, state]);
    expect(states).toEqual([
      ['a', 'ready'],
      ['b', 'blocked'],
      ['c', 'not-allowed'],
    ]);
    const { names, filter } = await scene.open(settings).snapshot(OWNER);
    expect([names, filter]).toEqual([['a'], ['A', 'b']]);
    expect(await scene.open(settings).read('b', OWNER)).toMatchObject({ kind: 'absent' });
    expect(await scene.open(settings).called('b', OWNER)).toMatchObject({ kind: 'absent' });
  });

  it('[S03] block also wins over "always"', async () => {
    await scene.write('bundled', 'a', createSkillText('a', 'always: true\nos: plan9\n'));
    expect((await scene.status('a'))?.state).toBe('ready');
    expect((await scene.status('a', { block: ['a'] }))?.state).toBe('blocked');
  });

  it('[S03] [P07] "always" skills need not be in the allow list, for the model, by command and for reading', async () => {
    await scene.write('bundled', 'a', createSkillText('a', 'always: true\nos: plan9\n'));
    await scene.write('bundled', 'b', createSkillText('b'));
    const settings = { allow: ['none'] };
    expect((await scene.status('a', settings))?.state).toBe('ready');
    expect((await scene.status('b', settings))?.state).toBe('not-allowed');
    const skills = scene.open(settings);
    expect((await skills.snapshot(OWNER)).names).toEqual(['a']);
    expect(await skills.read('a', OWNER)).toMatchObject({ kind: 'skill' });
    expect(await skills.called('a', OWNER)).toMatchObject({ kind: 'skill' });
    expect((await scene.status('a', { ...settings, block: ['A'] }))?.state).toBe('blocked');
  });

  it('[S03] [S05] the limits of the catalog exclude "always" skills last, from any source', async () => {
    for (const name of ['a', 'b', 'c']) await scene.write('workspace', name, createSkillText(name));
    await scene.write('bundled', 'z', createSkillText('z', 'always: true\n'));
    const { names, left } = await scene.open({ max: 2 }).snapshot(OWNER);
    expect([names, left]).toEqual([['z', 'a'], 2]);
  });

  it('[S03] [W03] "always" does not open private or hidden skills', async () => {
    const always = 'always: true\n';
    await scene.write('bundled', 'a', createSkillText('a', `${always}audience: owner\n`));
    await scene.write(
      'bundled',
      'b',
      createSkillText('b', `${always}disable-model-invocation: true\n`),
    );
    expect((await scene.open().snapshot(GUEST)).names).toEqual([]);
    expect((await scene.open().snapshot(OWNER)).names).toEqual(['a']);
  });

  it('[S03] programs are searched on the PATH', async () => {
    const bin = join(scene.base, 'bin');
    await mkdir(bin);
    await writeFile(join(bin, 'there'), '', { mode: 0o755 });
    await writeFile(join(bin, 'text'), '', { mode: 0o644 });
    for (const name of ['there', 'text', 'none', '../bin/there']) {
      const front = `requires: {bins: ["${name}"]}\n`;
      await scene.write(
        'bundled',
        name.replaceAll(/\W/g, ''),
        createSkillText(name.replaceAll(/\W/g, ''), front),
      );
    }
    const facts = () => ({
      os: 'linux',
      env: { PATH: bin },
      settings: {},
      tools: new Set<string>(),
    });
    const all = await scene.open({}, { facts }).list();
    expect(all.map(({ name, state }) => [name, state])).toEqual([
      ['binthere', 'not-eligible'],
      ['none', 'not-eligible'],
      ['text', 'not-eligible'],
      ['there', 'ready'],
    ]);
  });

  it('[S05] a skill excluded by the limits reports this, and is still a command', async () => {
    for (const name of ['a', 'b']) await scene.write('bundled', name, createSkillText(name));
    expect(await scene.status('b', { max: 1 })).toMatchObject({ state: 'left-out', command: 'b' });
    expect((await scene.open({ max: 1 }).snapshot(OWNER)).left).toBe(1);
  });

  it('[S08] emoji and install are shown, and the reason why a skill cannot be used', async () => {
    const more =
      'metadata: {openclaw: {emoji: 🧳, requires: {bins: [nope]}, install: [{kind: brew, label: Install nope}]}}\n';
    await scene.write('bundled', 'trip', createSkillText('trip', more));
    expect(await scene.status('trip')).toMatchObject({
      state: 'not-eligible',
      reason: 'needs the program "nope"',
      emoji: '🧳',
      install: ['Install nope'],
    });
  });
});

describe('private skills', () => {
  beforeEach(async () => {
    await scene.write('workspace', 'secret', createSkillText('secret', 'audience: owner\n'));
    await scene.write('bundled', 'open', createSkillText('open'));
  });

  it('[W03] shows private skills to the owner in the catalog, on demand and as commands', async () => {
    const skills = scene.open();
    const forOwner = await skills.snapshot(OWNER);
    expect([forOwner.names, forOwner.audience]).toEqual([['secret', 'open'], { kind: 'owner' }]);
    expect(await skills.read('secret', OWNER)).toMatchObject({
      text: 'How to secret.',
      audience: { kind: 'owner' },
    });
    expect((await skills.userInvocable(OWNER)).map(({ command }) => command)).toContain('secret');
    const forGuest = await skills.snapshot(GUEST);
    expect([forGuest.names, forGuest.audience]).toEqual([['open'], { kind: 'everyone' }]);
    expect(JSON.stringify(forGuest)).not.toContain('secret');
    expect((await skills.userInvocable(GUEST)).map(({ command }) => command)).toEqual(['open']);
  });

  it('[W03] appear to a guest not to exist', async () => {
    const skills = scene.open();
    const hide = (text: object, name: string) => JSON.stringify(text).replaceAll(name, 'X');
    expect(hide(await skills.read('secret', GUEST), 'secret')).toBe(
      hide(await skills.read('nosuch', GUEST), 'nosuch'),
    );
    expect(hide(await skills.called('secret', GUEST), 'secret')).toBe(
      hide(await skills.called('nosuch', GUEST), 'nosuch'),
    );
  });

  it('[W03] also hide the skills that they shadow from a guest', async () => {
    await scene.write('bundled', 'secret', createSkillText('secret', '', 'the public one'));
    expect(await scene.open().read('secret', GUEST)).toMatchObject({ kind: 'absent' });
  });

  it('[W03] a file next to SKILL.md can be private on its own', async () => {
    await writeFile(
      join(scene.folderOf('bundled'), 'open', 'mine.md'),
      '---\naudience: owner\n---\nX',
    );
    await writeFile(join(scene.folderOf('bundled'), 'open', 'yours.md'), 'Y');
    const skills = scene.open();
    expect(await skills.read('open', OWNER, 'mine.md')).toMatchObject({ text: 'X' });
    expect(await skills.read('open', GUEST, 'mine.md')).toMatchObject({ kind: 'absent' });
    expect(await skills.read('open', GUEST, 'yours.md')).toMatchObject({ text: 'Y' });
  });
});

describe('reading skills on demand', () => {
  it('[S06] [S09] returns the current text and the current list', async () => {
    const skills = scene.open();
    await scene.write('workspace', 'a', createSkillText('a', '', 'one'));
    const before = await skills.snapshot(GUEST);
    expect(await skills.read('A', GUEST)).toMatchObject({
      name: 'a',
      text: 'one',
      source: 'skill a',
    });
    await scene.write('workspace', 'a', createSkillText('a', '', 'two'));
    await scene.write('workspace', 'b', createSkillText('b'));
    expect(await skills.read('a', GUEST)).toMatchObject({ text: 'two' });
    const after = await skills.snapshot(GUEST);
    expect(after.names).toEqual(['a', 'b']);
    expect(after.version).not.toBe(before.version);
    await rm(join(scene.folderOf('workspace'), 'a'), { recursive: true });
    expect(await skills.read('a', GUEST)).toMatchObject({
      reason: 'unknown',
      detail: 'There is no skill "a". There are: b.',
    });
  });

  it("[S06] reports the path of a skill's files if the skill's text asks for it", async () => {
    await scene.write(
      'personal',
      'a',
      createSkillText('a', '', 'Run {baseDir}/x.sh, not {other}.'),
    );
    expect(await scene.open().read('a', OWNER)).toMatchObject({
      text: 'Run ~/.agents/skills/a/x.sh, not {other}.',
    });
    expect(await scene.open().read('a', GUEST)).toMatchObject({
      text: 'Run personal/a/x.sh, not {other}.',
    });
  });

  it('[S07] creates the same snapshot as long as the files do not change', async () => {
    await scene.write(
      'bundled',
      'a',
      createSkillText('a', 'requires: {env: [KEY]}\nalways: true\n'),
    );
    const skills = scene.open();
    const snapshot = await skills.snapshot(GUEST);
    expect(await skills.snapshot(GUEST)).toEqual(snapshot);
    expect(snapshot.requiredEnv).toEqual(['KEY']);
  });

  it.each(['../a/SKILL.md', '/etc/passwd', '..', '.hidden', 'a\\b'])(
    '[S06] does not read a file of a skill that is %s',
    async (file) => {
      await scene.write('bundled', 'a', createSkillText('a'));
      expect(await scene.open().read('a', OWNER, file)).toMatchObject({ reason: 'unreadable' });
    },
  );

  it('[S06] a file of a skill cannot be a link', async () => {
    await scene.write('bundled', 'a', createSkillText('a'));
    await symlink('/etc/hostname', join(scene.folderOf('bundled'), 'a', 'host.md'));
    expect(await scene.open().read('a', OWNER, 'host.md')).toMatchObject({ reason: 'unreadable' });
  });

  it('[S06] [P05] shows a skill in full or in the catalog, never both', async () => {
    await scene.write('bundled', 'a', createSkillText('a', '', 'A'.repeat(20_000)));
    await scene.write('bundled', 'b', createSkillText('b', '', 'B'.repeat(20_000)));
    await scene.write('bundled', 'c', createSkillText('c', '', 'CCC'));
    const { inline, names, catalogue } = await scene.open({ show: 'inline' }).snapshot(GUEST);
    expect(names).toEqual(['a', 'b', 'c']);
    expect(inline.map(({ name }) => name)).toEqual(['a', 'c']);
    // A skill whose body does not fit is listed in the catalog, so that no skill is lost.
    expect(catalogue).toContain('<name>b</name>');
    expect(catalogue).not.toMatch(/<name>[ac]</);
    // Outside the catalog, the description must say when to use the skill.
    expect(inline[1]?.body).toBe('When c is wanted.\n\nCCC');
  });

  it.each<[string, string, Partial<SkillSettings>, readonly string[]]>([
    ['nothing more', '', {}, []],
    ['its author', 'show: inline\n', {}, ['Tea']],
    [
      'its author, against all',
      'metadata: { parley: { show: outline } }\n',
      { show: 'inline' },
      [],
    ],
    ['the settings for it', '', { entries: { tea: { show: 'inline' } } }, ['Tea']],
    [
      'the settings for it, against its author',
      'show: inline\n',
      { show: 'inline', entries: { TEA: { show: 'outline' } } },
      [],
    ],
  ])(
    '[S06] [P05] shows a skill in full according to %s',
    async (_who, more, settings, expected) => {
      await scene.write('bundled', 'tea', createSkillText('Tea', more));
      const { inline, catalogue } = await scene.open(settings).snapshot(GUEST);
      expect(inline.map(({ name }) => name)).toEqual(expected);
      expect(catalogue.includes('<name>Tea</name>')).toBe(expected.length === 0);
      const show = expected.length === 0 ? 'outline' : 'inline';
      expect(await scene.status('Tea', settings)).toMatchObject({ state: 'ready', show });
    },
  );

  it('[S05] counts skills in full towards skills.max', async () => {
    for (const name of ['a', 'b', 'c']) await scene.write('bundled', name, createSkillText(name));
    const entries = { c: { show: 'inline' } } as const;
    const { names, left } = await scene.open({ max: 2, entries }).snapshot(GUEST);
    expect([names, left]).toEqual([['a', 'b'], 1]);
  });
});

describe("a skill's key", () => {
  const needs = (env: string) =>
    `metadata: { openclaw: { primaryEnv: "TEA_KEY", requires: { env: ["${env}"] } } }\n`;
  const facts = (env: Record<string, string>) => () => ({
    ...{ os: 'linux', env, settings: {}, tools: new Set<string>() },
  });

  it.each([
    ['the environment', { TEA_KEY: 'k' }, {}, 'TEA_KEY', 'ready', 'environment'],
    ['the settings', {}, { TEA: { apiKey: 'k' } }, 'TEA_KEY', 'ready', 'settings'],
    [
      'both: the environment',
      { TEA_KEY: 'k' },
      { tea: { apiKey: 'k' } },
      'TEA_KEY',
      'ready',
      'environment',
    ],
    ['nowhere', {}, {}, 'TEA_KEY', 'not-eligible', null],
    ['the entry of another', {}, { kiln: { apiKey: 'k' } }, 'TEA_KEY', 'not-eligible', null],
    [
      'the settings, but another is wanted',
      {},
      { tea: { apiKey: 'k' } },
      'POT',
      'not-eligible',
      'settings',
    ],
  ])('[P07] [S03] comes from %s', async (_where, env, entries, wanted, state, from) => {
    await scene.write('bundled', 'tea', createSkillText('tea', needs(wanted)));
    const [status] = await scene.open({ entries }, { facts: facts(env) }).list();
    expect(status).toMatchObject({ state, primaryEnv: { name: 'TEA_KEY', from } });
  });
});

describe('commands', () => {
  it('[S08] offers a command for a skill hidden from the model, and vice versa', async () => {
    await scene.write('bundled', 'a', createSkillText('a', 'disable-model-invocation: true\n'));
    await scene.write('bundled', 'b', createSkillText('b', 'user-invocable: false\n'));
    const skills = scene.open();
    expect((await skills.snapshot(OWNER)).names).toEqual(['b']);
    expect(await skills.read('a', OWNER)).toMatchObject({ kind: 'absent' });
    expect(await skills.called('a', OWNER)).toMatchObject({ text: 'How to a.' });
    expect(await skills.called('b', OWNER)).toMatchObject({ kind: 'absent' });
    expect(await skills.userInvocable(OWNER)).toEqual([
      { command: 'a', name: 'a', summary: 'When a is wanted.' },
    ]);
  });

  it('[S08] prefer Parley’s own command, then the stronger skill, and report both conflicts', async () => {
    await scene.write('bundled', 'help', createSkillText('help'));
    await scene.write('bundled', 'plan_trip', createSkillText('plan_trip'));
    await scene.write('workspace', 'plan-trip', createSkillText('plan-trip'));
    expect(await scene.status('help')).toMatchObject({
      state: 'ready',
      command: null,
      commandProblem: 'no command: /help is one of Parley’s own',
    });
    expect(await scene.status('plan_trip')).toMatchObject({
      commandProblem: 'no command: /plan_trip belongs to the skill plan-trip',
    });
    expect(await scene.open().called('plan-trip', GUEST)).toMatchObject({ name: 'plan-trip' });
  });
});

describe("a private skill's folder", () => {
  const OWNER = { kind: 'owner', conversationId: 'direct' } as const;
  const GUEST = { kind: 'guest', conversationId: 'group' } as const;
  let base: string;
  let workspace: Workspace;

  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), 'parley-skill-audience-'));
    workspace = await openWorkspace({ folder: join(base, 'workspace'), templates: base });
    await put(
      'skills/diary/SKILL.md',
      '---\nname: diary\ndescription: d\naudience: owner\n---\nWrite.',
    );
    await put('skills/diary/references/people.md', 'Ann is afraid of geese.');
    await put('skills/more/broken/SKILL.md', '---\naudience: [\n---\nWrite.');
    await put('skills/more/broken/notes.md', 'The key is under the mat.');
    await put('skills/cooking/SKILL.md', '---\nname: cooking\ndescription: d\n---\nCook.');
    await put('skills/cooking/references/soups.md', 'Leek, potato.');
    await put('skills/linked/notes.md', 'The alarm is 1234.');
    await symlink('../diary/SKILL.md', join(workspace.folder, 'skills/linked/SKILL.md'));
  });
  afterAll(() => rm(base, { recursive: true, force: true }));

  async function put(name: string, text: string): Promise<void> {
    const path = join(workspace.folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }

  it.each([
    'skills/diary/references/people.md',
    'skills/more/broken/notes.md',
    'skills/linked/notes.md',
  ])('[W03] keeps %s private to the owner', async (name) => {
    expect(await workspace.for(OWNER).read(name)).toMatchObject({ audience: { kind: 'owner' } });
    expect(await workspace.for(GUEST).read(name)).toEqual({ kind: 'absent', reason: 'private' });
    const listed = (await workspace.for(GUEST).list()).map((entry) => entry.name);
    expect(listed).not.toContain(name);
  });

  it('[W03] does not hide files of open skills', async () => {
    const file = await workspace.for(GUEST).read('skills/cooking/references/soups.md');
    expect(file).toMatchObject({ text: 'Leek, potato.', audience: { kind: 'everyone' } });
  });
});
