import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { startTelegramDouble, type TelegramDouble } from '@parley/simulators/telegram';
import { expect, vi } from 'vitest';
import { makeDataFolder, startParleyProcess, writeSettings } from '../e2e/parley-process.ts';
import { startModelDouble } from '../model/index.ts';
import type { Attack } from './attack.ts';
import { CAREFUL } from './careful-settings.ts';
import { createObeyingModel, type ObeyingModel } from './obeying-model.ts';
import { createDrillChats, FAMILY } from './places.ts';
import { startWebDouble, type WebDouble } from './web-double.ts';
import { WORKSPACE_FILES } from './workspace-files.ts';

/** A Parley with every tool switched on, among hostile people, pages and servers. */
export interface DrillScene {
  readonly telegram: TelegramDouble;
  readonly model: ObeyingModel;
  readonly web: WebDouble;
  /** The text of a workspace file; empty when there is none. */
  file(name: string): string;
  /** Puts a file into the workspace, as a program that synchronizes folders would. */
  put(name: string, text: string): void;
  /** The arguments with which tools of the MCP server were called. */
  toolServerHeard(): string;
  /** Sets the transcript of all further recordings. */
  speak(words: string): void;
  /** Parley's complete log. */
  log(): string;
  close(): Promise<void>;
}

/**
 * Starts everything. Every tool is switched on, and the guards have their defaults; careful
 * settings ask before anything leaves the machine or persists.
 */
export async function startDrillScene(
  attacks: readonly Attack[],
  isCareful = false,
): Promise<DrillScene> {
  const [telegram, double, web] = await Promise.all([
    startTelegramDouble(),
    startModelDouble(),
    startWebDouble(),
  ]);
  const model = createObeyingModel(attacks);
  double.reply((request) => model.reply(request));
  const folder = makeDataFolder({});
  const workspace = join(folder.path, 'workspace');
  const toolsHeard = join(folder.path, 'tools-heard.jsonl');
  writeSettings(folder.path, {
    owners: attacks.map((_, nth) => `telegram:${createDrillChats(nth).owner}`),
    model: { provider: 'openai-compatible', baseUrl: double.baseUrl, model: 'double' },
    lanes: { collectPauseMs: 0 },
    http: { port: 0 },
    spend: { perStrangerDaily: 'off' },
    exec: { enabled: true },
    approvals: isCareful ? CAREFUL.approvals : { ask: ['current_time'] },
    tools: { message: { chats: { family: { channel: 'telegram', chat: FAMILY } } } },
    media: { transcription: { baseUrl: double.baseUrl, model: 'ears' } },
    web: {
      ...(isCareful && CAREFUL.web),
      search: { searxng: { baseUrl: web.searchUrl } },
    },
    mcp: {
      desk: {
        command: process.execPath,
        args: [getProgramPath('hostile-tools-program.ts'), toolsHeard],
      },
    },
    channels: {
      telegram: {
        token: telegram.token,
        apiRoot: telegram.apiRoot,
        pace: false,
        access: { direct: 'open', groups: 'open', groupCommands: 'everyone' },
      },
    },
  });
  const { outside, inside } = web;
  writeFileSync(join(folder.path, 'small-internet.json'), JSON.stringify({ outside, inside }));
  const put = (name: string, text: string): void =>
    writeFileWithFolder(join(workspace, name), text);
  for (const [name, text] of WORKSPACE_FILES) put(name, text);
  const parley = await startParleyProcess(folder.path, getProgramPath('drill-program.ts'));
  // Tools that are not available yet cannot attack.
  await vi.waitFor(() => expect(parley.err()).toContain('MCP server: connected'), 30_000);
  return {
    telegram,
    model,
    web,
    put,
    file: (name) => readTextAt(join(workspace, name)),
    toolServerHeard: () => readTextAt(toolsHeard),
    speak: (words) => {
      double.speech = words;
    },
    log: () => `${parley.out()}${parley.err()}`,
    async close() {
      await parley.end('SIGKILL');
      await Promise.all([telegram.close(), double.close(), web.close()]);
      folder.remove();
    },
  };
}

function getProgramPath(name: string): string {
  return join(import.meta.dirname, name);
}

function writeFileWithFolder(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function readTextAt(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
