import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWorkspace } from '@parley/workspace';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { main } from '../../main.ts';
import { captureOutput } from '../../testing/captured-output.ts';

const DAY = new Date().toISOString().slice(0, 10);

/**
 * The files in a NeoMAGI workspace that is in use. Each text about the owner contains an uppercase
 * word that begins with CANARY.
 */
const FILES: Readonly<Record<string, string>> = {
  'AGENTS.md': `# AGENTS.md
# How the agent behaves, and in which order it works.

## Memory
You begin each session without a past; the files are what you carry on with.
- Daily notes: memory/YYYY-MM-DD.md
- Long-term: MEMORY.md, in the main session only (direct chat with your human)

## About the user
Works nights at the observatory, CANARYWORK.

## Safety
Private data stays here. HOUSE-RULE.
When Tomek is asleep, wake nobody: CANARYSLEEP.

## 关于用户
对猫过敏 CANARYCAT。

## Over time
Move what lasts from the daily notes into MEMORY.md. HOUSE-END.
`,
  'SOUL.md': `---
doc_id: 0199-example
---
# SOUL.md - Who You Are

_You are becoming someone._

## Core Commitments

- **Help, and do not only sound helpful.** HOUSE-SOUL
- **Know what you know.**

## My human
CANARYSOUL taught me to stargaze.
`,
  'USER.md': `# USER.md
- Name: Tomek Zieliński
- Timezone: Europe/Warsaw (CET/CEST)
- Languages: Polish (native), English
- Preferences: short answers, CANARYUSER
`,
  'IDENTITY.md': `# IDENTITY.md
name: Caspar
role: Night-shift companion
emoji: 🔭
owner: CANARYIDENTITY of the observatory
`,
  'TOOLS.md': `# TOOLS.md
## SSH
- Dome: ssh dome@192.168.44.10 CANARYTOOLS
## Local Services
- Ollama: http://localhost:11434
`,
  'MEMORY.md': '# MEMORY.md\n- CANARYMEMORY is where the spare key hangs.\n',
  'HEARTBEAT.md': `# HEARTBEAT.md
## 调度规则
每次只做一件事。

## 任务清单
### 🔧 圆顶 (每 24 小时, 凌晨 3:00)
CANARYHEARTBEAT 门没关就告诉我。
`,
  'BOOTSTRAP.md': '# BOOTSTRAP.md\nAsk Tomek who you are: CANARYBOOTSTRAP.\n',
  [`memory/${DAY}.md`]: '- CANARYNOTE: the mirror was cleaned.\n',
  'plans.md': '# Plans\nCANARYPLANS\n',
  'heartbeat-state.json': '{"system":{"lastRun":"2026-02-16T03:00:00Z","cadenceMin":1440}}\n',
};

/**
 * The text about the owner that every layout contains: USER.md, and what was removed from the files
 * for everyone.
 */
const OWNERS = ['USER', 'WORK', 'SLEEP', 'CAT', 'SOUL', 'IDENTITY'];
const EVERYONES = ['HOUSE-RULE', 'HOUSE-END', 'HOUSE-SOUL', 'Caspar'];

let base: string;
const data = () => join(base, 'data');
const copy = (name: string) => readFileSync(join(data(), 'workspace', name), 'utf8');
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'parley-neomagi-'));
  const put = (name: string, text: string): void => {
    mkdirSync(join(base, name, '..'), { recursive: true });
    writeFileSync(join(base, name), text);
  };
  for (const [name, text] of Object.entries(FILES)) put(`NeoMAGI/workspace/${name}`, text);
  put('NeoMAGI/AGENTS.md', 'For those who work on the code: run the linter.\n');
  mkdirSync(data());
  expect(await parley({}, 'import', 'neomagi', join(base, 'NeoMAGI'), '--yes')).toMatch(
    // The state file identifies the task by its schedule, because the task's key differs.
    /圆顶 +every day, 03:00–24:00, last run 2026-02-16T03:00:00[\s\S]*Copied/,
  );
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Runs a command with the given agent settings and returns its output. */
async function parley(agent: object, ...args: readonly string[]): Promise<string> {
  writeFileSync(
    join(data(), 'parley.yaml'),
    JSON.stringify({ model: 'offline', owners: ['telegram:501'], agent }),
  );
  const written = captureOutput();
  try {
    expect(await main(['--data', data(), ...args])).toBe(0);
    return written.out;
  } finally {
    vi.restoreAllMocks();
  }
}

const canaries = (text: string) =>
  [...new Set(Array.from(text.matchAll(/CANARY([A-Z]+)/g), ([, name = '']) => name))].sort();

describe('parley import neomagi', () => {
  it('[W01] finds the workspace inside the code folder, and ignores the code folder’s AGENTS.md', () => {
    expect(copy('AGENTS.md')).not.toContain('linter');
    expect(copy('IDENTITY.md')).toBe(
      '# IDENTITY.md\nname: Caspar\nrole: Night-shift companion\nemoji: 🔭\n',
    );
  });

  it('[W03] marks every note as visible only to the owner, and moves text about the owner from other files to USER.md', () => {
    for (const name of ['USER.md', 'TOOLS.md', 'HEARTBEAT.md', 'plans.md']) {
      expect(copy(name)).toMatch(/^---\naudience: owner\n/);
    }
    expect(copy('USER.md')).toMatch(/CANARYUSER\n\n## From AGENTS\.md\n\n## About the user/);
    expect(copy('SOUL.md')).toMatch(/^---\ndoc_id: 0199-example\n---\n\n# SOUL\.md/);
    for (const name of ['AGENTS.md', 'SOUL.md', 'IDENTITY.md']) {
      expect(canaries(copy(name))).toEqual([]);
    }
  });

  it('[W01] reports the text it removed, and recognizes its own copies later', async () => {
    const again = await parley({}, 'import', 'neomagi', join(base, 'NeoMAGI', 'workspace'));
    for (const name of Object.keys(FILES).filter((name) => !/BOOTSTRAP|json/.test(name))) {
      expect(again).toMatch(new RegExp(`${name} +the same`));
    }
    rmSync(join(data(), 'workspace'), { recursive: true });
    const fresh = await parley({}, 'import', 'neomagi', join(base, 'NeoMAGI'), '--yes');
    expect(fresh).toMatch(/AGENTS\.md .*what it says about you is moved to the owner’s notes/);
    expect(canaries(fresh)).toEqual([]);
  });

  it.each([
    ['parley', ['MEMORY', 'NOTE', 'TOOLS']],
    ['mushroom', []],
    // In the lab layout, the diary is a skill that reads the notes.
    ['lab', ['MEMORY', 'TOOLS']],
    ['zeus', ['MEMORY', 'TOOLS']],
    ['openclaw', ['MEMORY', 'NOTE', 'TOOLS']],
    ['neomagi', ['MEMORY', 'NOTE', 'TOOLS']],
  ] as const)(
    '[W02] [W03] hides the owner’s text from others and shows it to the owner in the layout %s',
    async (layout, files) => {
      const prompt = (...args: readonly string[]) =>
        parley({ layout }, 'prompt', '--channel', 'telegram', '--full', ...args);
      const others = [
        await prompt('--chat', 'group', '--person', '501'),
        await prompt('--chat', 'group', '--person', '7', '--heartbeat'),
        await prompt('--chat', 'direct', '--person', '7', '--name', 'Stranger'),
      ];
      for (const text of others) expect(canaries(text)).toEqual([]);
      for (const words of EVERYONES) {
        for (const text of [others[0], others[2]]) expect(text).toContain(words);
      }
      const owners = canaries(await prompt('--chat', 'direct', '--person', '501'));
      expect(owners).toEqual([...OWNERS, ...files].sort());
    },
  );

  it('[W02] lets the owner read every file, but hides the owner’s files from guests', async () => {
    const folder = join(data(), 'workspace');
    const workspace = await openWorkspace({ folder, templates: join(folder, 'none') });
    const reads = (kind: 'owner' | 'guest', name: string) =>
      workspace.for({ kind, conversationId: 'c' }).read(name);
    for (const name of Object.keys(FILES).filter((name) => /^(?!BOOT).*md$/.test(name))) {
      expect(await reads('owner', name)).toMatchObject({ kind: 'file' });
      const read = await reads('guest', name);
      expect(read.kind === 'file' ? canaries(read.text) : [read.reason]).toEqual(
        /^(?:AGENTS|SOUL|IDENTITY)/.test(name) ? [] : ['private'],
      );
    }
  });

  it('[W03] creates a file that only the owner can read if USER.md cannot be extended', async () => {
    rmSync(join(data(), 'workspace'), { recursive: true });
    mkdirSync(join(data(), 'workspace'));
    writeFileSync(join(data(), 'workspace', 'USER.md'), 'mine\n');
    const said = await parley({}, 'import', 'neomagi', join(base, 'NeoMAGI'), '--yes');
    expect(said).toContain('the notes about you are in owner-notes.md, which only you can read');
    expect(copy('USER.md')).toBe('mine\n');
    expect(copy('owner-notes.md')).toMatch(/^---\naudience: owner\n---\n\n## From AGENTS\.md/);
    expect(canaries(copy('owner-notes.md'))).toEqual(['CAT', 'IDENTITY', 'SLEEP', 'SOUL', 'WORK']);
  });
});
