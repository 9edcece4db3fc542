import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EXAMPLE_FACTS } from '@parley/core/testing';
import { createBuiltInLayers, createPersonaSource } from '@parley/prompt';
import { createPromptFiles, listSkillFolders, openSkills } from '@parley/workspace';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { openToolScene, type ToolScene } from '../testing/tool-scene.ts';
import { createExecTool, createSandboxSource, type ExecDeps } from './exec.ts';
import { grepTool, readTool } from './read-files.ts';
import { createToolRegistry } from './tool-registry.ts';

let scene: ToolScene;
beforeEach(async () => {
  scene = await openToolScene({ 'SOUL.md': 'Be kind.', 'notes/a.md': 'one\ntwo\n' });
});
afterEach(() => scene.close());

function exec(deps: Partial<ExecDeps> = {}) {
  const settings = {
    seconds: 20,
    maxSeconds: 30,
    maxCharacters: 1_000,
    processes: 64,
    memoryMb: 500,
    diskMb: 500,
  };
  const { workspace } = scene;
  return createExecTool({
    approval: 'never',
    network: false,
    ...settings,
    workspace,
    promptFiles: createPromptFiles(['AGENTS.md', 'knowledge/']),
    forbidden: [],
    ...deps,
  });
}

/**
 * The files that layers, the agent's character and skills declare when Parley is started in the
 * workspace.
 */
function declaredReads(workspace: string): readonly string[] {
  const nowhere = join(workspace, '../nowhere');
  const skills = openSkills({
    folders: listSkillFolders({
      ...{ extra: [join(workspace, 'my/skills')], bundled: nowhere, data: nowhere, home: nowhere },
      ...{ project: workspace, workspace },
    }),
    settings: { block: [], show: 'inline', max: 9, maxCharacters: 9_000, maxFileBytes: 9_000 },
    facts: () => ({ os: 'linux', env: {}, settings: {}, tools: new Set() }),
    reserved: [],
    home: nowhere,
  });
  const character = createPersonaSource({
    persona: { name: 'pirate', builtIn: null },
    format: { name: 'loud', builtIn: null },
  });
  return [...createBuiltInLayers(), character, skills].flatMap(({ reads = [] }) => reads);
}

describe.runIf(inject('bubblewrapPath'))('exec', () => {
  it('[G06] runs a command in the workspace', async () => {
    const { note, text, failed } = await scene.use(exec(), {
      command: 'wc -l < notes/a.md; touch made',
    });
    expect(note).toMatch(/^\[Exit code 0 after \d+\.\d s\.\]$/);
    expect({ text, failed }).toEqual({ text: '2', failed: false });
    expect(scene.onDisk('made')).toBe('');
  });

  it('[G06] reports how the command ended', async () => {
    const ended = await scene.use(exec(), { command: 'exit 3' });
    expect(ended).toMatchObject({ failed: true, note: expect.stringContaining('Exit code 3') });
    expect(ended.note).toContain('It printed nothing.');
    const killed = await scene.use(exec(), { command: 'echo started; sleep 60', seconds: 1 });
    expect(killed.note).toMatch(/^\[Killed after 1\.\d s: it exceeded its time limit\..*\]$/);
    expect(killed.text).toBe('started');
  });

  it('[W09] cannot write files that others can read or that become prompt text, and creates files as private to the owner', async () => {
    scene.put('MEMORY.md', 'canary');
    scene.put('AGENTS.md', 'rules');
    scene.put('notes/mine.md', '---\naudience: owner\n---\nmine');
    const command = [
      'cat MEMORY.md > notes/a.md; cat MEMORY.md >> AGENTS.md; mv MEMORY.md notes/a.md',
      'cp MEMORY.md notes/leak.md; cp MEMORY.md skills/leak.md; cp MEMORY.md formats.md',
      'mkdir -p knowledge .parley/commands; cp MEMORY.md knowledge/leak.md; rm -rf .parley',
      'mv notes old; mkdir notes; cp MEMORY.md notes/a.md; echo more >> old/mine.md',
    ].join('; ');
    await scene.use(exec(), { command });
    const guest = scene.workspace.for({ kind: 'guest', conversationId: 'c' });
    expect(scene.onDisk('AGENTS.md')).toBe('rules');
    expect(scene.onDisk('MEMORY.md')).toBe('canary');
    expect(scene.onDisk('old/mine.md')).toContain('minemore');
    expect(scene.onDisk('notes/a.md')).toContain('canary');
    const names = (await guest.list()).map(({ name }) => name);
    expect(names).toEqual(['AGENTS.md', 'SOUL.md']);
    for (const name of ['notes/a.md', 'old/a.md', 'old/leak.md', 'formats.md', 'skills/leak.md']) {
      expect(await guest.read(name)).toMatchObject({ kind: 'absent' });
    }
  });

  it('[W09] cannot create the files that layers and skills read, even if they are missing', async () => {
    const before = readdirSync(scene.folder).sort();
    const promptFiles = createPromptFiles(declaredReads(scene.folder));
    const missing = promptFiles.patterns.filter((name) => !existsSync(join(scene.folder, name)));
    expect(missing).toEqual(
      expect.arrayContaining([
        ...['.agents/skills/', 'AGENTS.md', 'BOOT.md', 'formats/', 'my/skills/'],
        ...['output-formats/', 'personas/'],
      ]),
    );
    const command = missing
      .flatMap((name) =>
        name.endsWith('/') ? [`${name}leak/SKILL.md`, `${name}telegram.md`] : [name],
      )
      .map((path) => `mkdir -p ${dirname(path)}; echo evil > ${path}`)
      .concat('mv my other; mkdir -p my/skills; echo evil > my/skills/x.md; mv .agents agents')
      .join('; ');
    // Two sandboxes at a time: the first one to end must not remove the other one's protection.
    const [first, second] = [exec({ promptFiles }), exec({ promptFiles })];
    await Promise.all([
      scene.use(first, { command }),
      scene.use(second, { command: `sleep 2; ${command}` }),
    ]);
    expect(missing.filter((name) => existsSync(join(scene.folder, name)))).toEqual([]);
    expect(readdirSync(scene.folder).filter((name) => name !== '.parley')).toEqual(before);
  });

  it('[W02] [W09] does not expose a private file through unusual spellings of its name', async () => {
    scene.put('MEMORY.md', 'canary');
    scene.put('Skills/brew/SKILL.md', '---\nname: brew\ndescription: Tea.\n---\nBrew.');
    const names = [
      ...[
        'Skills/leak.txt',
        'Skills/brew/leak.txt',
        'ｓｋｉｌｌｓ/leak.txt',
        'leak．ｍｄ',
        'notes/leak.MD',
      ],
      ...['node_modules/x/leak.md', 'Agents.md', 'prices.csv'],
    ];
    const open = "printf -- '---\\naudience: everyone\\n---\\n'";
    const command = names
      .map((name) => `mkdir -p ${dirname(name)}; (${open}; cat MEMORY.md) > ${name}`)
      .concat('cp MEMORY.md Skills/plain.txt; cp MEMORY.md ｐｌａｉｎ．ｍｄ; ln MEMORY.md twin.md')
      .join('; ');
    await scene.use(exec(), { command });
    expect(scene.onDisk('prices.csv')).toContain('canary');
    for (const name of [...names, 'Skills/plain.txt', 'ｐｌａｉｎ．ｍｄ', 'twin.md']) {
      const { text } = await scene.use(readTool, { path: name }, 'guest');
      expect([name, text]).toEqual([name, expect.not.stringContaining('canary')]);
    }
    const { text } = await scene.use(grepTool, { text: 'canary' }, 'guest');
    expect(text).toBe('Nothing was found.');
  });

  it('[W06] cannot change SOUL.md', async () => {
    await scene.use(exec(), { command: 'echo evil > SOUL.md; rm -f SOUL.md' });
    expect(scene.onDisk('SOUL.md')).toBe('Be kind.');
  });

  it('[G06] sees nothing outside the workspace, and refuses a workspace that contains protected folders', async () => {
    const data = dirname(scene.folder);
    writeFileSync(join(data, 'token'), 'canary');
    mkdirSync(join(scene.folder, 'inner'));
    const { text } = await scene.use(exec(), { command: 'cat ../token; ls ..' });
    expect(text).not.toContain('canary');
    const refused = scene.use(exec({ forbidden: [join(scene.folder, 'inner')] }), {
      command: 'ls',
    });
    await expect(refused).rejects.toMatchObject({ code: 'sandbox-folder' });
  });

  it('[G02] removes terminal control sequences', async () => {
    const { text } = await scene.use(exec(), {
      command: String.raw`printf '\033[31mred\033[0m \033]0;title\007x\a'`,
    });
    expect(text).toBe('red x');
  });

  it('[P10] keeps both ends of a long output', async () => {
    const { text } = await scene.use(exec(), { command: 'seq 10000' });
    expect(text).toMatch(/^1\n2\n(?:.|\n)*characters of output are left out here(?:.|\n)*\n10000$/);
    expect(text.length).toBeLessThan(1_500);
  });

  it('[G06] is offered to owners only, and asks for approval if the settings say so', () => {
    const offered = (deps: Partial<ExecDeps>, kind: 'owner' | 'guest') =>
      createToolRegistry({ builtIn: [exec(deps)] }).registry.for({ kind, conversationId: 'c' })
        .names;
    expect(offered({}, 'guest')).toEqual([]);
    expect(offered({}, 'owner')).toEqual(['exec']);
    expect(exec({ approval: 'ask' }).approval).toBe('ask');
  });
});

describe('the sandbox in an owner’s prompt', () => {
  const settings = { approval: 'never', network: false, seconds: 20, maxSeconds: 30 } as const;
  const bounds = { maxCharacters: 1_000, processes: 64, memoryMb: 500, diskMb: 400 };
  const turn = (kind: 'owner' | 'guest') => {
    const reader = { kind, conversationId: 'c' } as const;
    const facts = EXAMPLE_FACTS;
    return {
      facts,
      reader,
      view: scene.workspace.for(reader),
      messages: [],
      conversationId: 'c',
      session: 0,
    };
  };

  it.runIf(inject('bubblewrapPath'))(
    '[P06] [G06] states which files commands can access, what limits they have, and which files earlier commands left behind',
    async () => {
      const source = createSandboxSource({ ...settings, ...bounds }, scene.workspace.folder);
      await scene.use(exec(), {
        command:
          'mkdir out skills node_modules; echo abc > out/old.csv; touch -d 2020-01-01 out/old.csv; for n in $(seq 25); do echo x > f$n.txt; done; touch .hidden skills/x.sh node_modules/y.js; ln -s /etc/passwd link.txt',
      });
      const { sandbox } = await source.gather(turn('owner'));
      expect(sandbox?.text).toBe(
        'They start in your workspace; it and a /tmp of their own are all that they can write. They reach no network. One command: 20 s (30 s if you ask for it), 64 processes, 500 MB of memory, 400 MB written, 1000 characters of output.',
      );
      expect(sandbox).toMatchObject({ kind: 'bubblewrap', totalFileCharacters: 26 });
      expect(sandbox?.files).toHaveLength(20);
      expect(JSON.stringify(sandbox?.files)).not.toMatch(
        /hidden|skills|node_modules|link|notes|old/,
      );
      expect(sandbox?.files).toContainEqual({ name: 'f25.txt', size: 2 });
    },
  );

  it('[W02] is absent from the prompts of other readers', async () => {
    const source = createSandboxSource({ ...settings, ...bounds }, scene.workspace.folder);
    expect(await source.gather(turn('guest'))).toEqual({});
  });
});
