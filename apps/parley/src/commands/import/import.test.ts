import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemTime } from '@parley/core';
import { previewTasks } from '@parley/proactive';
import { openFolderReader } from '@parley/workspace';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { locateDataFolder } from '../../data-folder.ts';
import { importWorkspace } from './import.ts';

/** The files in an OpenClaw workspace after a few weeks of use. */
const FILES: Readonly<Record<string, string>> = {
  'AGENTS.md': '# AGENTS.md\n\nEvery session: read SOUL.md.\n',
  'SOUL.md': '---\ntitle: "SOUL"\nread_when:\n  - always\n---\n\nA helpful lobster.\n',
  'TOOLS.md': '# TOOLS.md\n\n- camera: kitchen\n',
  'IDENTITY.md': '- **Name:** Clawdia\n- **Creature:** lobster\n',
  'USER.md': '- **Name:** Ann\n',
  'HEARTBEAT.md': '# Keep this file empty to skip heartbeats.\n',
  'BOOTSTRAP.md': '# BOOTSTRAP.md\n\nWho am I?\n',
  'MEMORY.md': 'Ann likes green tea.\n',
  'memory/2026-11-20.md': 'Bought tea.\n',
  'memory/2026-11-21.md': 'Drank tea.\n',
  'skills/weather/SKILL.md': '---\nname: weather\ndescription: Tells the weather\n---\nAsk it.\n',
  'skills/weather/scripts/ask.sh': 'echo sun\n',
  'skills/broken/SKILL.md': 'no front matter\n',
  'broken.md': '---\naudience: [\n---\nHidden.\n',
  'canvas/index.html': '<p>hello</p>\n',
  'openclaw.json': '{"token":"canary-secret"}\n',
  '.git/HEAD': 'ref: refs/heads/main\n',
};

let base: string;
let from: string;
let printed: string;
const data = () => locateDataFolder(join(base, 'data'), {});
const workspace = (name = '') => join(base, 'data', 'workspace', name);
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'parley-import-'));
  from = join(base, '.openclaw', 'workspace');
  printed = '';
  for (const [name, text] of Object.entries(FILES)) put(join(from, name), text);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
}

const run = (yes: boolean, path = from): Promise<number> =>
  importWorkspace(
    {
      folder: data(),
      env: {},
      print: (text) => {
        printed += `${text}\n`;
      },
    },
    'openclaw',
    path,
    yes,
  );

/** Returns every file below a folder with its content, mode and modification time. */
function pictureOf(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return names.map((name) => {
    const { mode, mtimeMs, ctimeMs, size } = statSync(join(folder, name));
    const isFolder = statSync(join(folder, name)).isDirectory();
    const bytes = isFolder ? '' : readFileSync(join(folder, name), 'base64');
    return [name, mode, mtimeMs, ctimeMs, size, bytes].join(' ');
  });
}

describe('parley import openclaw', () => {
  it('[W01] shows each file’s purpose, its audience and its problems', async () => {
    expect(await run(false)).toBe(0);
    expect(printed).toMatch(/AGENTS\.md +how the agent works, \d+ bytes\n/);
    expect(printed).toMatch(/MEMORY\.md +what it knows, .*only in your own chats/);
    expect(printed).toMatch(/memory\/ +2 files, .*only in your own chats/);
    expect(printed).toMatch(
      /USER\.md +the person it works for, .*only in your own chats \(the copy says/,
    );
    expect(printed).toMatch(/TOOLS\.md +notes on tools, .*the copy says "audience: owner"/);
    expect(printed).toMatch(/HEARTBEAT\.md +standing tasks, .*says nothing yet/);
    expect(printed).toMatch(
      /broken\.md .*only in your own chats; visible only to the owner until this is fixed/,
    );
    expect(printed).toMatch(/skills\/weather +Tells the weather/);
    expect(printed).toMatch(/skills\/broken +not used: it has no front matter/);
    expect(printed).not.toContain('green tea');
  });

  it('lists the omitted files with the reasons', async () => {
    put(join(base, '.openclaw', 'credentials', 'key'), 'canary-secret');
    symlinkSync('/etc/passwd', join(from, 'link.md'));
    writeFileSync(join(from, 'big.md'), 'a'.repeat(1_000_001));
    expect(await run(true, join(base, '.openclaw'))).toBe(0);
    expect(printed).toMatch(/openclaw\.json +OpenClaw settings, which may contain secrets/);
    expect(printed).toMatch(/\.\.\/credentials +secrets/);
    expect(printed).toMatch(/BOOTSTRAP\.md +its first conversation is over/);
    expect(printed).toMatch(/canvas\/index\.html +pages for OpenClaw devices/);
    expect(printed).toMatch(/\.git +the Git history/);
    expect(printed).toMatch(/link\.md +a symbolic link is not followed/);
    expect(printed).toMatch(/big\.md +larger than 1 MB/);
    const copied = readdirSync(workspace(), { recursive: true }).join('\n');
    expect(copied).not.toMatch(/openclaw|BOOTSTRAP|canvas|git|link|big|tmp|credentials/);
    expect(printed).not.toContain('canary-secret');
  });

  it('[H02] [W01] imports the heartbeat tasks with the times of their last runs, and shows how it interprets the tasks', async () => {
    const tasks = '---\nsummary: x\n---\n- Email: every 30 min (9 AM - 9 PM)\n- Calendar: hourly\n';
    const state = '{"lastChecks":{"email":1703275200}}';
    put(join(from, 'HEARTBEAT.md'), tasks);
    put(join(from, 'memory/heartbeat-state.json'), state);
    expect(await run(true)).toBe(0);
    expect(printed).toMatch(
      /Standing tasks in HEARTBEAT\.md\n +Email +every 30 min, 09:00–21:00, last run 2023-12-22T20:00:00\.000Z\n +Calendar +every hour\n/,
    );
    expect(readFileSync(workspace('memory/heartbeat-state.json'), 'utf8')).toBe(state);
    expect(readFileSync(workspace('HEARTBEAT.md'), 'utf8')).toContain('Calendar: hourly');
    put(join(from, 'HEARTBEAT.md'), 'Look at the mail, and be nice.\n');
    await run(false);
    expect(printed).toMatch(
      /heartbeat +every 30 min, last run .*\n +the file does not show where one task ends and the next begins, so all of it counts as one task/,
    );
  });

  it('[H11] [W10] reads HEARTBEAT.md the way the heartbeat does: its encoding, its problems, and the text outside the tasks', async () => {
    const tasks = '# Heartbeat\nBe brief.\n\n- Email: every 30 min\n- Bills: every 2-3 days\n';
    writeFileSync(join(from, 'HEARTBEAT.md'), Buffer.from(`\ufeff${tasks}`, 'utf16le'));
    put(join(from, 'USER.md'), '- **Timezone:** the usual\n');
    await run(false);
    expect(printed).toMatch(/Email +every 30 min\n +Bills +every 2 days\n/);
    expect(printed).toContain("1 line outside the tasks, included in each task's run");
    expect(printed).toMatch(/HEARTBEAT\.md, line 5, task Bills: found "every 2-3 days"/);
    expect(printed).toContain('USER.md: "the usual" is not a time zone');
    await run(true);
    const files = await openFolderReader(workspace(), systemTime.clock);
    const { tasks: copied } = await previewTasks(files, { timeZone: 'UTC' });
    expect(copied.map(({ name }) => name)).toEqual(['Email', 'Bills']);
  });

  it('copies nothing without --yes', async () => {
    await run(false);
    expect(printed).toContain('Nothing has been copied');
    expect(() => statSync(workspace())).toThrow('ENOENT');
  });

  it('copies files with --yes, readable only by the owner, and leaves the original unchanged byte for byte', async () => {
    for (const name of ['AGENTS.md', 'memory']) utimesSync(join(from, name), 1_000, 1_000);
    const before = pictureOf(join(base, '.openclaw'));
    expect(await run(true)).toBe(0);
    expect(pictureOf(join(base, '.openclaw'))).toEqual(before);
    for (const name of ['AGENTS.md', 'MEMORY.md', 'skills/weather/scripts/ask.sh']) {
      expect(readFileSync(workspace(name), 'utf8')).toBe(FILES[name]);
      expect(statSync(workspace(name))).toMatchObject({ nlink: 1 });
      expect(statSync(workspace(name)).mode & 0o777).toBe(0o600);
    }
    expect(statSync(workspace('memory')).mode & 0o777).toBe(0o700);
  });

  it('[W03] marks the copies of USER.md, TOOLS.md and HEARTBEAT.md as visible only to the owner', async () => {
    const everyone = '---\naudience: everyone\n---\nFor all.\n';
    writeFileSync(join(from, 'HEARTBEAT.md'), everyone);
    writeFileSync(join(from, 'TOOLS.md'), '---\ntitle: Tools\n---\nCamera.\n');
    expect(await run(true)).toBe(0);
    const copy = (name: string) => readFileSync(workspace(name), 'utf8');
    expect(copy('USER.md')).toBe('---\naudience: owner\n---\n\n- **Name:** Ann\n');
    expect(copy('TOOLS.md')).toBe('---\naudience: owner\ntitle: Tools\n---\nCamera.\n');
    expect(copy('HEARTBEAT.md')).toBe(everyone);
    expect(readFileSync(join(from, 'USER.md'), 'utf8')).toBe(FILES['USER.md']);
  });

  it('never overwrites a file, and lists the skipped files', async () => {
    put(workspace('SOUL.md'), 'mine');
    const template = join(import.meta.dirname, '../../../../../config/workspace/AGENTS.md');
    put(workspace('AGENTS.md'), readFileSync(template, 'utf8'));
    symlinkSync(join(base, 'nowhere.md'), workspace('MEMORY.md'));
    expect(await run(true)).toBe(0);
    expect(readFileSync(workspace('SOUL.md'), 'utf8')).toBe('mine');
    expect(printed).toMatch(/SOUL\.md +one of your own files/);
    expect(printed).toMatch(/AGENTS\.md +still the file that Parley created: delete it/);
    expect(() => statSync(join(base, 'nowhere.md'))).toThrow('ENOENT');
    expect(printed).toMatch(/MEMORY\.md +one of your own files/);
    printed = '';
    await run(true);
    expect(printed).toMatch(/USER\.md +the same/);
    expect(printed).toContain(': 0 files');
  });

  it('does not write through a symbolic link in the workspace', async () => {
    mkdirSync(join(base, 'outside'));
    mkdirSync(workspace(), { recursive: true });
    symlinkSync(join(base, 'outside'), workspace('memory'));
    expect(await run(true)).toBe(1);
    expect(printed).toContain('memory is a symbolic link');
    expect(readdirSync(join(base, 'outside'))).toEqual([]);
  });

  it('reports a file where a folder is expected', async () => {
    put(workspace('memory'), 'mine');
    expect(await run(true)).toBe(1);
    expect(printed).toContain('memory is not a folder');
    expect(readFileSync(workspace('memory'), 'utf8')).toBe('mine');
  });

  it('copies a file with several hard links as an independent file', async () => {
    linkSync(join(from, 'MEMORY.md'), join(from, 'notes.md'));
    expect(await run(true)).toBe(0);
    expect(statSync(workspace('notes.md')).nlink).toBe(1);
  });

  it('refuses a folder that is not a workspace, and the current workspace itself', async () => {
    await expect(run(false, join(base, 'none'))).rejects.toMatchObject({ code: 'import-folder' });
    await expect(run(false, base)).rejects.toMatchObject({
      code: 'import-folder',
      message: expect.stringContaining('~/.openclaw/workspace'),
    });
    put(workspace('AGENTS.md'), 'mine');
    await expect(run(true, workspace())).rejects.toMatchObject({ code: 'import-same' });
  });
});
