import { setTimeout as timer } from 'node:timers/promises';
import type { Clock, Logger } from '@parley/contracts';
import type { McpResult } from './catalogue/result-text.ts';
import { type Arguments, connect } from './connect.ts';
import { type KeepDeps, keepServer } from './keep-server.ts';
import { McpError } from './mcp-error.ts';
import type { McpServerConfig } from './server-config.ts';
import type { McpServerView } from './server-view.ts';

/** The servers of an installation. */
export interface McpServers {
  /** All of them as they are now, in the order of the settings. */
  views(): readonly McpServerView[];
  /** Throws McpError, and what the signal fires with. */
  call(server: string, tool: string, input: Arguments, signal: AbortSignal): Promise<McpResult>;
  /** A prompt with its arguments filled in, as text. Throws as `call` does. */
  prompt(
    server: string,
    name: string,
    input: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<string>;
  /** Ends all connections and processes. */
  close(): Promise<void>;
}

/** What servers need from outside. */
export interface McpServersDeps extends Pick<KeepDeps, 'onOffer'> {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
}

/** Begins to connect to all servers, in the background; gives them back at once. */
export function openMcpServers(
  configs: readonly McpServerConfig[],
  deps: McpServersDeps & Partial<Pick<KeepDeps, 'connect' | 'pause'>>,
): McpServers {
  const keeping = { connect, pause, ...deps };
  const kept = new Map(configs.map((config) => [config.name, keepServer(config, keeping)]));
  const serverOf = (name: string) => {
    const server = kept.get(name);
    if (server !== undefined) return server;
    const message = `there is no MCP server ${name} in the settings`;
    throw new McpError({ code: 'mcp-not-connected', message, retryable: false });
  };
  return {
    views: () => [...kept.values()].map((server) => server.view()),
    call: (server, tool, input, signal) =>
      serverOf(server).use((connection) => connection.call(tool, input, signal)),
    prompt: (server, name, input, signal) =>
      serverOf(server).use(async (connection) => {
        const { text } = await connection.prompt(name, input, signal);
        return text;
      }),
    async close() {
      await Promise.all([...kept.values()].map((server) => server.close()));
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  // It ends early when nobody waits any more; that is no error.
  await timer(ms, undefined, { signal, ref: false }).catch(() => {});
}
