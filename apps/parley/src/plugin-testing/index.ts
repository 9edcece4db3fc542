// The module `parley/testing`, which runs a complete Parley for a plugin's tests.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ParleyError, systemTime } from '@parley/core';
import type { GatewayStatus } from '@parley/gateway/api';
import { type DataFolder, locateDataFolder } from '../data-folder.ts';
import { askGateway, findGateway } from '../running-gateway.ts';
import { startParley as startGateway } from '../start-parley.ts';
import { sendAndWaitForAnswer } from '../terminal/ask-once.ts';
import { createGatewayClient } from '../terminal/gateway-client.ts';
import { type ScriptedAnswer, type ScriptedModel, startScriptedModel } from './scripted-model.ts';

export type { ScriptedAnswer } from './scripted-model.ts';

export interface TestParleyOptions {
  /** The plugin's folder, usually `import.meta.dirname`. */
  readonly plugin: string;
  /** The plugin's options, as written in the settings. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** The model's answers, in order. By default, the built-in offline model answers. */
  readonly answers?: readonly ScriptedAnswer[];
  /** Additional settings, as written in parley.yaml. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** A Parley that runs in the test's process with a temporary data folder. */
export interface TestParley {
  /** The address of the gateway, such as `http://127.0.0.1:39135`. */
  readonly address: string;
  /** The token for the `Authorization: Bearer …` header in requests to the gateway. */
  readonly token: string;
  /** Sends a message to the agent, like `parley chat`, and returns the answer. */
  ask(text: string): Promise<string>;
  /** The tool results that the model received, oldest first. */
  readonly toolResults: readonly string[];
  log(): string;
  /** Stops the gateway and removes the data folder. */
  close(): Promise<void>;
}

/** Thrown when a plugin does not work, or when a message is not answered. */
class PluginTestError extends ParleyError {
  constructor(code: 'plugin-fails' | 'no-answer', message: string) {
    super({ code, message, retryable: false });
  }
}

/**
 * Starts Parley with a plugin, like `parley start`. Rejects with the reason if the plugin does not
 * work, or if part of the plugin was left out.
 */
export async function startParley(options: TestParleyOptions): Promise<TestParley> {
  await using opened = new AsyncDisposableStack();
  const data = mkdtempSync(join(tmpdir(), 'parley-plugin-'));
  opened.defer(() => rmSync(data, { recursive: true, force: true }));
  const model = options.answers && (await startScriptedModel(options.answers));
  if (model !== undefined) opened.defer(() => model.close());
  const { PARLEY_HOME: _home, ...env } = process.env;
  const folder = locateDataFolder(data, env);
  writeFileSync(folder.settingsFile, createSettingsText(options, model));
  let log = '';
  const logTo = {
    write(line: string) {
      log += line;
    },
  };
  const running = await startGateway({ folder, env, ...systemTime, checkpoint() {}, logTo });
  opened.defer(() => running.close());
  const find = () => findGateway(folder, env);
  await assertPluginWorks(find, () => log);
  const everything = opened.move();
  return {
    address: running.address,
    token: running.token,
    toolResults: model?.toolResults ?? [],
    ask: (text) => askAgent(find, folder, text),
    log: () => log,
    close: () => everything.disposeAsync(),
  };
}

function createSettingsText(
  { plugin, options = {}, settings }: TestParleyOptions,
  scripted: ScriptedModel | undefined,
): string {
  const model =
    scripted === undefined
      ? 'offline'
      : { provider: 'openai-compatible', baseUrl: scripted.baseUrl, model: 'scripted' };
  // YAML is a superset of JSON, so JSON is a valid settings file.
  return JSON.stringify({
    ...{ model, http: { port: 0 }, plugins: [{ use: plugin, options }] },
    ...settings,
  });
}

type FindRunningGateway = () => ReturnType<typeof findGateway>;

async function assertPluginWorks(find: FindRunningGateway, log: () => string): Promise<void> {
  const gateway = await find();
  if (gateway === null) throw new PluginTestError('plugin-fails', `Parley has ended:\n${log()}`);
  const { plugins } = await askGateway<GatewayStatus>(gateway, '/api/status/report');
  const broken = plugins.filter(({ works }) => !works).map(({ line }) => line);
  if (broken.length === 0) return;
  throw new PluginTestError('plugin-fails', `${broken.join('\n')}\n\nIts log:\n${log()}`);
}

async function askAgent(
  find: FindRunningGateway,
  folder: DataFolder,
  text: string,
): Promise<string> {
  const ended = new AbortController();
  const place = { downloads: join(folder.path, 'downloads'), chat: 'main' };
  const client = createGatewayClient(find, ended.signal, place);
  const answer = await sendAndWaitForAnswer(client, ended, text);
  if (answer.isAnswered) return answer.text;
  throw new PluginTestError('no-answer', answer.text);
}
