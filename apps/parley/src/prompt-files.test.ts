import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { previewTurn } from '@parley/agent';
import { createRecordingLogger } from '@parley/core/testing';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import type { ContextSource } from '@parley/prompt';
import type { ClaimedTurn } from '@parley/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toApprovalRules } from './access.ts';
import { createHypotheticalTurn, createPreviewedTurn } from './commands/prompt/request.ts';
import { locateDataFolder } from './data-folder.ts';
import { openAgent } from './open-agent.ts';
import { loadConfiguredPlugins } from './plug-in.ts';
import { readSettings } from './settings.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const EXAMPLE_PLUGIN = join(import.meta.dirname, '../../../examples/plugin');
const CHANNELS = CHANNEL_DEFINITIONS.map(({ id }) => id);
const LAYOUTS = ['parley', 'mushroom', 'lab', 'zeus', 'openclaw', 'neomagi'] as const;

/** Files that a workspace may contain, each with a word that does not occur in any other file. */
const FILES: readonly string[] = [
  ...['AGENTS.md', 'SOUL.md', 'USER.md', 'IDENTITY.md', 'TOOLS.md', 'MEMORY.md', 'HEARTBEAT.md'],
  ...['BOOT.md', 'BOOTSTRAP.md', 'memory/2026-11-20.md', 'memory/2026-11-21.md', 'memory/user.md'],
  ...['knowledge/tea.md', 'formats/html.md', 'formats/telegram.md', 'formats/discord.md'],
  ...['personas/clerk.md', 'output-formats/mine.md', 'skills/tea/SKILL.md', 'market/gift/SKILL.md'],
  ...['house-rules.md', 'README.md', 'notes/tea.md', 'notes/2026-11-21.md', 'tea.md', 'PERSONA.md'],
];
const wordOf = (name: string) => `word${FILES.indexOf(name)}x`;

const MESSAGE = { channel: 'telegram', chatId: '42', user: '42', text: 'What about tea?' } as const;
const GROUP = { ...MESSAGE, channel: 'discord', chatType: 'group', user: '7' } as const;
const turn = (message: Parameters<typeof createHypotheticalTurn>[0]) =>
  createHypotheticalTurn(message, CHANNELS, NOW);
const atStart = (started: ClaimedTurn): ClaimedTurn => ({
  ...started,
  messages: started.messages.map((row) => ({
    ...row,
    message: { ...row.message, trigger: 'boot' },
  })),
});
const HEARTBEAT = await createPreviewedTurn(
  { message: MESSAGE, mode: undefined, heartbeat: true },
  { channels: CHANNELS, agent: 'main', heartbeat: async () => null, now: NOW },
);
const SCENES = [
  { title: 'the owner in a new workspace', turn: turn(MESSAGE), change: {} },
  { title: 'the owner on the page', turn: turn({ ...MESSAGE, channel: 'web' }), change: {} },
  { title: 'a stranger', turn: turn({ ...MESSAGE, user: '7' }), change: {} },
  { title: 'a group', turn: turn(GROUP), change: {} },
  { title: 'a heartbeat', ...HEARTBEAT },
  { title: 'a sub-agent', turn: turn(MESSAGE), change: { mode: 'minimal' } },
  { title: 'a start', turn: atStart(turn(MESSAGE)), change: {} },
] as const;

let path: string;
beforeAll(() => {
  path = mkdtempSync(join(tmpdir(), 'parley-promptfiles-'));
});
afterAll(() => rmSync(path, { recursive: true, force: true }));

/** A prompt source that reads a file it does not declare. */
const nosy: ContextSource = {
  id: 'nosy',
  async gather({ view }) {
    const found = await view.read('notes/tea.md');
    return found.kind === 'file' ? { projectProfile: found } : {};
  },
};

async function open(layout: string) {
  const settings = {
    ...{ model: 'offline', owners: ['telegram:42'], plugins: [EXAMPLE_PLUGIN] },
    agent: { layout, persona: 'clerk', format: 'mine', workspace: join(path, layout) },
    skills: { extra: [join(path, layout, 'market')] },
    channels: { telegram: { token: '1:a' }, discord: { token: 'a.b.c' } },
  };
  writeFileSync(join(path, 'parley.yaml'), JSON.stringify(settings));
  const folder = locateDataFolder(path, {});
  const { log, lines } = createRecordingLogger();
  const clock = () => NOW;
  const around = { folder, env: {}, channels: CHANNEL_DEFINITIONS, log, clock };
  const { loaded, agent: plugins } = await loadConfiguredPlugins(readSettings(folder, {}), around);
  const agent = await openAgent({ ...around, settings: loaded.settings, plugins });
  for (const name of FILES) put(join(agent.workspace.folder, name), name);
  const { owners } = loaded.settings;
  const deps = {
    ...agent,
    agent: agent.place,
    owners,
    approvals: toApprovalRules(loaded.settings),
  };
  return {
    agent,
    lines,
    deps: { ...deps, clock, monotonic: clock, log, sources: [...agent.sources, nosy] },
  };
}

function put(file: string, name: string): void {
  const front = `---\nname: ${name.split('/')[1]}\ndescription: Tea ${wordOf(name)}.\n---\n`;
  mkdirSync(dirname(file), { recursive: true });
  const text = `- **Name:** ${wordOf(name)}\n- What about tea? It is ${wordOf(name)}.\n`;
  writeFileSync(file, name.endsWith('SKILL.md') ? `${front}${text}` : text);
}

describe.each(LAYOUTS)('prompt sources with the layout %s', (layout) => {
  it('[W09] use only files that an agent cannot change without approval', async () => {
    const { agent, lines, deps } = await open(layout);
    const { promptFiles } = agent;
    const shown = new Set<string>();
    for (const { title, turn: claimed, change } of SCENES) {
      const { parts } = await previewTurn(claimed, change, deps);
      const text = JSON.stringify(parts);
      for (const name of FILES.filter((file) => text.includes(wordOf(file)))) {
        expect([title, name, name === 'SOUL.md' || promptFiles.includes(name)]).toEqual([
          ...[title, name, true],
        ]);
        shown.add(name);
      }
    }
    expect([...shown]).toEqual(
      expect.arrayContaining([
        ...['AGENTS.md', 'IDENTITY.md', 'knowledge/tea.md', 'formats/telegram.md'],
        ...['personas/clerk.md', 'output-formats/mine.md', 'market/gift/SKILL.md'],
      ]),
    );
    expect([...promptFiles.patterns]).toEqual([
      ...['AGENTS.md', 'BOOT.md', 'BOOTSTRAP.md', 'HEARTBEAT.md', 'IDENTITY.md', 'MEMORY.md'],
      ...['SKILL.md', 'TOOLS.md', 'USER.md', 'heartbeat-state.json', 'house-rules.md', 'formats/'],
      ...['groups/', 'knowledge/', 'market/', 'memory/', 'output-formats/', 'personas/', 'skills/'],
    ]);
    const defects = lines.filter((line) => line.includes('not in its `reads`'));
    expect(new Set(defects).size).toBe(1);
    expect(defects[0]).toContain('"part":"nosy","file":"notes/tea.md"');
  });
});

it('[W09] treat settings and profiles inside the workspace as prompt files', async () => {
  writeFileSync(
    join(path, 'parley.yaml'),
    JSON.stringify({ model: 'offline', agent: { workspace: path } }),
  );
  const folder = locateDataFolder(path, {});
  const { log } = createRecordingLogger();
  const { settings } = readSettings(folder, {});
  const { promptFiles } = await openAgent({ folder, env: {}, settings, log });
  expect(promptFiles.patterns).toEqual(expect.arrayContaining(['parley.yaml', 'profiles/']));
});
