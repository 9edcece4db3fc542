import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { getMessageText } from '../model/chat-request.ts';
import { runCommand } from './parley-process.ts';
import { ANN, startTelegramScene, type TelegramScene } from './telegram-scene.ts';

/** "请用中文回答，保持礼貌。会议在星期三上午。" as Notepad saves it on Chinese Windows. */
const GBK = Buffer.from(
  'c7ebd3c3d6d0cec4bbd8b4f0a3acb1a3b3d6c0f1c3b2a1a3bbe1d2e9d4dad0c7c6dac8fdc9cfcee7a1a3',
  'hex',
);
const CHINESE = '请用中文回答，保持礼貌。会议在星期三上午。';
const NOISE = Uint8Array.from({ length: 4_096 }, (_, at) => (at * 7919 + (at >> 3) * 31) % 256);
const TASKS = '## Grüße\r\n- every: 30 min\r\n- do: Look through new mail.\r\n';

let scene: TelegramScene;
beforeAll(async () => {
  scene = await startTelegramScene({}, { heartbeat: { quietHours: 'off' } });
  scene.model.reply(() => 'You are welcome.');
});
afterAll(() => scene.close());

const fileOf = (name: string) => join(scene.folder.path, 'workspace', name);
function put(name: string, bytes: Uint8Array): void {
  mkdirSync(join(scene.folder.path, 'workspace'), { recursive: true });
  writeFileSync(fileOf(name), bytes);
}
async function say(text: string): Promise<string> {
  const before = scene.answers(ANN).length;
  scene.telegram.say({ chat: ANN, text });
  return (await scene.untilAnswers(ANN, before + 1)).slice(before).join('\n');
}
const cli = (...words: string[]) => runCommand(['--data', scene.folder.path, ...words]);
const system = () => getMessageText(scene.model.requests.at(-1)?.body.messages[0]);

const Checks = z.object({ checks: z.array(z.object({ check: z.string(), found: z.string() })) });
const Findings = z.object({ findings: z.array(z.object({ id: z.string(), found: z.string() })) });
async function doctor(name: string): Promise<readonly string[]> {
  const { checks } = Checks.parse(JSON.parse((await cli('doctor', '--json')).out));
  return checks.flatMap(({ check, found }) => (check === name ? [found] : []));
}
async function audit(): Promise<readonly string[]> {
  const { findings } = Findings.parse(JSON.parse((await cli('audit', '--json')).out));
  return findings.flatMap(({ id, found }) => (id === 'workspace.encodings' ? [found] : []));
}

it('[W10] [H11] HEARTBEAT.md in UTF-16 from PowerShell yields the same tasks in all commands', async () => {
  await say('hello');
  for (const mark of ['\uFEFF', '']) {
    put('HEARTBEAT.md', Buffer.from(`${mark}${TASKS}`, 'utf16le'));
    expect(await say('/heartbeat')).toMatch(/Grüße – every 30 min/);
    const shown = await cli('heartbeat');
    expect(shown.out).toMatch(/Grüße/);
    expect(shown.code).toBe(0);
    expect(await doctor('heartbeat')).toEqual(['HEARTBEAT.md has 1 task']);
    expect(await doctor('files')).toEqual(['every Markdown file is read as it was written']);
    expect(await audit()).toEqual([]);
  }
});

it('[W10] AGENTS.md in GBK appears correctly in the prompt', async () => {
  put('AGENTS.md', GBK);
  await say('hello again');
  expect(system()).toContain(CHINESE);
  expect(system()).not.toContain('\uFFFD');
  expect(readFileSync(fileOf('AGENTS.md'))).toEqual(GBK);
});

it('[W10] a file that is not text in any encoding is reported to the model, doctor and audit', async () => {
  put('AGENTS.md', NOISE);
  put('HEARTBEAT.md', NOISE);
  await say('and now?');
  expect(system()).toContain('AGENTS.md is there and cannot be read');
  expect(system()).not.toContain('\uFFFD');
  expect(await say('/heartbeat')).toContain('HEARTBEAT.md cannot be read');
  expect(await doctor('heartbeat')).toEqual([
    expect.stringContaining('HEARTBEAT.md cannot be read'),
  ]);
  expect(await doctor('files')).toEqual([
    expect.stringMatching(/^AGENTS\.md: /),
    expect.stringMatching(/^HEARTBEAT\.md: /),
  ]);
  expect(await audit()).toHaveLength(2);
});
