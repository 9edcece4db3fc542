// The module `parley/testing`: a whole Parley for the test of a plugin.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ParleyError, systemTime } from '@parley/core';
import type { GatewayStatus } from '@parley/gateway/api';
import { type DataFolder, locateDataFolder } from '../data-folder.ts';
import { askGateway, findGateway } from '../running-gateway.ts';
import { startParley as startGateway } from '../start-parley.ts';
import { askOnce } from '../terminal/ask-once.ts';
import { createGatewayClient } from '../terminal/gateway-client.ts';
import { type ScriptedAnswer, type ScriptedModel, startScriptedModel } from './scripted-model.ts';

export type { ScriptedAnswer } from './scripted-model.ts';

export interface TestParleyOptions {
  /** The folder of the plugin, usually `import.meta.dirname`. */
  readonly plugin: string;
  /** The options of the plugin, as in the settings. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** The answers of the model, in order. Without them, the built-in offline model answers. */
  readonly answers?: readonly ScriptedAnswer[];
  /** Other settings, as in parley.yaml. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** A Parley in this process with a temporary data folder. */
export interface TestParley {
  /** Its address, such as `http://127.0.0.1:39135`. */
  readonly address: string;
  /** For the header `Authorization: Bearer …` of requests to it. */
  readonly token: string;
  /** Writes to it as `parley chat` does, and returns the answer. */
  ask(text: string): Promise<string>;
  /** The results of tools as the model got them, oldest first. */
  readonly toolResults: readonly string[];
  /** The lines of its log so far. */
  log(): string;
  /** Ends it and removes the data folder. */
  close(): Promise<void>;
}

/** A plugin that does not work, or a question that got no answer. */
class PluginTestError extends ParleyError {
  constructor(code: 'plugin-fails' | 'no-answer', message: string) {
    super({ code, message, retryable: false });
  }
}

/**
 * Starts Parley with a plugin, as `parley start` does. Rejects with the reason if the plugin does
 * not work, or if a part of it was left out.
 */
export async function startParley(options: TestParleyOptions): Promise<TestParley> {
  await using opened = new AsyncDisposableStack();
  const data = mkdtempSync(join(tmpdir(), 'parley-plugin-'));
  opened.defer(() => rmSync(data, { recursive: true, force: true }));
  const model = options.answers && (await startScriptedModel(options.answers));
  if (model !== undefined) opened.defer(() => model.close());
  const { PARLEY_HOME: _home, ...env } = process.env;
  const folder = locateDataFolder(data, env);
  writeFileSync(folder.settingsFile, settingsText(options, model));
  let log = '';
  const logTo = {
    write(line: string) {
      log += line;
    },
  };
  const running = await startGateway({ folder, env, ...systemTime, checkpoint() {}, logTo });
  opened.defer(() => running.close());
  const find = () => findGateway(folder, env);
  await refuseBrokenPlugin(find, () => log);
  const everything = opened.move();
  return {
    address: running.address,
    token: running.token,
    toolResults: model?.toolResults ?? [],
    ask: (text) => ask(find, folder, text),
    log: () => log,
    close: () => everything.disposeAsync(),
  };
}

function settingsText(
  { plugin, options = {}, settings }: TestParleyOptions,
  scripted: ScriptedModel | undefined,
): string {
  const model =
    scripted === undefined
      ? 'offline'
      : { provider: 'openai-compatible', baseUrl: scripted.baseUrl, model: 'scripted' };
  // YAML is a superset of JSON.
  return JSON.stringify({
    ...{ model, http: { port: 0 }, plugins: [{ use: plugin, options }] },
    ...settings,
  });
}

type Find = () => ReturnType<typeof findGateway>;

async function refuseBrokenPlugin(find: Find, log: () => string): Promise<void> {
  const gateway = await find();
  if (gateway === null) throw new PluginTestError('plugin-fails', `Parley has ended:\n${log()}`);
  const { plugins } = await askGateway<GatewayStatus>(gateway, '/api/status/report');
  const broken = plugins.filter(({ works }) => !works).map(({ line }) => line);
  if (broken.length === 0) return;
  throw new PluginTestError('plugin-fails', `${broken.join('\n')}\n\nIts log:\n${log()}`);
}

async function ask(find: Find, folder: DataFolder, text: string): Promise<string> {
  const ended = new AbortController();
  const place = { downloads: join(folder.path, 'downloads'), chat: 'main' };
  const client = createGatewayClient(find, ended.signal, place);
  const answer = await askOnce(client, ended, text);
  if (answer.isAnswered) return answer.text;
  throw new PluginTestError('no-answer', answer.text);
}
