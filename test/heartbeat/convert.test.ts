import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type ConvertFlags,
  convertHeartbeat,
} from '../../apps/parley/src/commands/heartbeat-convert.ts';
import { locateDataFolder } from '../../apps/parley/src/data-folder.ts';
import { type ModelDouble, startModelDouble } from '../model/index.ts';

const OTHER = `---
audience: owner
---

# Heartbeat
Be brief.

- Mail (9:00-21:00 every 30 minutes): look for bills of the harbour
- [x] Paid the berth
- Every Monday at 10:00 plan the week with Bo
`;
const OWN = `## mail
- every: 30 min
- between: 9:00-21:00
- do: Look for bills of the harbour. Be brief.

## plan
- every: Monday at 10:00
- do: Plan the week with Bo. Be brief.
`;

let folder: string;
let model: ModelDouble;
let answer: string;
let printed: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-convert-'));
  answer = OWN;
  printed = '';
  model = await startModelDouble({ reply: () => answer });
  put('HEARTBEAT.md', OTHER);
  put('AGENTS.md', 'Be useful.\n');
  settings({ provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' });
});
afterEach(async () => {
  await model.close();
  rmSync(folder, { recursive: true });
});

function settings(of: unknown): void {
  writeFileSync(join(folder, 'parley.yaml'), JSON.stringify({ model: of }));
}

function put(name: string, text: string | Uint8Array): void {
  mkdirSync(join(folder, 'workspace'), { recursive: true });
  writeFileSync(join(folder, 'workspace', name), text);
}

const file = () => readFileSync(join(folder, 'workspace/HEARTBEAT.md'), 'utf8');

function convert(flags: ConvertFlags = {}): Promise<number> {
  const print = (text: string) => {
    printed += `${text}\n`;
  };
  return convertHeartbeat({ folder: locateDataFolder(folder, {}), env: {}, print }, flags);
}

describe('parley heartbeat convert', () => {
  it("[H11] shows the model's proposal and its tasks, and changes nothing with --dry-run", async () => {
    expect(await convert({ dryRun: true })).toBe(0);
    expect(printed).toContain('+- every: Monday at 10:00');
    expect(printed).toContain('-- [x] Paid the berth');
    expect(printed).toMatch(
      /It makes 2 tasks:\n {2}mail {2}every 30 min, 09:00–21:00\n {2}plan {2}every Monday, 10:00–24:00/,
    );
    expect(file()).toBe(OTHER);
    expect(model.total).toBe(1);
  });

  it('[H11] replaces the file below its front matter after a yes, and keeps the previous version', async () => {
    expect(await convert({ yes: true })).toBe(0);
    expect(file()).toBe(`---\naudience: owner\n---\n\n${OWN}`);
    const kept = join(folder, 'workspace/.parley/history/HEARTBEAT.md');
    expect(readdirSync(kept).map((name) => readFileSync(join(kept, name), 'utf8'))).toContain(
      OTHER,
    );
    expect(await convert({ yes: true })).toBe(0);
    expect(printed).toContain("is already in Parley's format");
    expect(model.total).toBe(1);
  });

  it('[H11] asks nothing and changes nothing without a terminal', async () => {
    await expect(convert()).rejects.toThrow('add --yes');
    expect(file()).toBe(OTHER);
  });

  it.each([
    ['prose', 'I have done it!', 'it is not in Parley’s form'],
    ['an unknown time', OWN.replace('30 min', 'often'), 'found "often"'],
    ['a task less', OWN.slice(OWN.indexOf('## plan')), 'are missing'],
    ['nothing to do', '## a\n- every: 1 h\n', 'found nothing'],
  ])('[H11] refuses a proposal with %s, even with --yes', async (_what, said, why) => {
    answer = said;
    expect(await convert({ yes: true })).toBe(1);
    expect(printed).toContain(why);
    expect(file()).toBe(OTHER);
  });

  it('[H11] shows the text that a proposal omits', async () => {
    answer = OWN.replace(' with Bo', '').replace(' of the harbour', ' of the\n  harbour');
    expect(await convert({ dryRun: true })).toBe(0);
    expect(printed).toMatch(/Words from the previous tasks that are missing: .*with/);
  });

  it('[H11] extracts the answer from a code fence', async () => {
    answer = `\`\`\`markdown\n${OWN}\`\`\``;
    expect(await convert({ yes: true })).toBe(0);
    expect(file()).toContain('## mail');
    expect(file()).not.toContain('```');
  });

  it('[H11] explains that it needs a model when there is none', async () => {
    settings('offline');
    await expect(convert({ yes: true })).rejects.toThrow(/A model has to read HEARTBEAT\.md/);
    expect(file()).toBe(OTHER);
  });

  it('[H11] accepts text written by the owner instead of the model', async () => {
    settings('offline');
    writeFileSync(join(folder, 'new.md'), OWN);
    expect(await convert({ yes: true, from: join(folder, 'new.md') })).toBe(0);
    expect(file()).toContain('## plan');
    expect(model.total).toBe(0);
  });

  it('[H11] does not ask the model about a file without tasks', async () => {
    put('HEARTBEAT.md', '# Keep this file empty.\n');
    expect(await convert({ yes: true })).toBe(0);
    expect(printed).toContain('There is nothing to convert');
    rmSync(join(folder, 'workspace/HEARTBEAT.md'));
    expect(await convert({ yes: true })).toBe(0);
    expect(model.total).toBe(0);
  });

  it('[H11] never shows the model a secret from the settings', async () => {
    const key = 'sk-secret-of-the-settings-42';
    settings({
      provider: 'openai-compatible',
      baseUrl: model.baseUrl,
      model: 'double',
      apiKey: key,
    });
    put('HEARTBEAT.md', `- Every 2 h: ask with ${key}\n`);
    await expect(convert({ yes: true })).rejects.toThrow('contains a secret');
    expect(model.total).toBe(0);
  });

  it('[H11] reports a failed model, and changes nothing', async () => {
    model.fault({ kind: 'status', status: 401 });
    await expect(convert({ yes: true })).rejects.toThrow('The model did not make a proposal');
    expect(file()).toBe(OTHER);
  });

  it('[H11] [W10] reads a file like the heartbeat does, whatever its encoding', async () => {
    put('HEARTBEAT.md', Buffer.from(`\ufeff${OTHER}`.replaceAll('\n', '\r\n'), 'utf16le'));
    expect(await convert({ yes: true })).toBe(0);
    expect(file().replaceAll('\r\n', '\n')).toContain(OWN);
    expect(existsSync(join(folder, 'workspace/.parley/history/HEARTBEAT.md'))).toBe(true);
  });
});
