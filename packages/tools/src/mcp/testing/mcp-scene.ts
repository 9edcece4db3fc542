import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { recordingLogger } from '@parley/core';
import { type McpServers, type McpServerView, openMcpServers } from '../servers.ts';
import type { McpPeer } from '../transport.ts';

const HOSTILE = fileURLToPath(new URL('./hostile-server.ts', import.meta.url));

/** For tests: one server named `s`, and what it noted. */
export interface McpScene {
  readonly servers: McpServers;
  /** Warnings, one line each. */
  readonly logged: readonly string[];
  /** The names of the tools of each offer that was reported, in order. */
  readonly offers: readonly (readonly string[])[];
  /** What the hostile server wrote into its file. */
  noted(): readonly string[];
  view(): McpServerView;
  call(
    tool: string,
    input?: Record<string, unknown>,
    signal?: AbortSignal,
  ): ReturnType<McpServers['call']>;
  close(): Promise<void>;
}

/** Starts Parley's side with the hostile server in some mode, or with another peer. */
export function openMcpScene(
  mode = 'plain',
  peer?: McpPeer,
  env: Readonly<Record<string, string | undefined>> = process.env,
): McpScene {
  const folder = mkdtempSync(join(tmpdir(), 'parley-mcp-'));
  const file = join(folder, 'noted');
  const { log, lines } = recordingLogger();
  const hostile: McpPeer = {
    kind: 'stdio',
    command: process.execPath,
    args: [HOSTILE, mode, file],
    env: { NAMED: 'on purpose' },
  };
  const offers: string[][] = [];
  const servers = openMcpServers([{ name: 's', peer: peer ?? hostile }], {
    env,
    clock: Date.now,
    random: () => 0,
    log,
    onOffer: (_server, tools) => void offers.push(tools.map(({ name }) => name)),
  });
  const view = (): McpServerView => {
    const [only] = servers.views();
    if (only === undefined) throw new Error('there is one server');
    return only;
  };
  return {
    servers,
    logged: lines,
    offers,
    noted: () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []),
    view,
    call: (tool, input = {}, signal = AbortSignal.timeout(10_000)) =>
      servers.call('s', tool, input, signal),
    async close() {
      await servers.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
