import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { commandLine } from '../../data-folder.ts';
import type { LoadedSettings } from '../../settings.ts';
import { type Check, type Finding, ok, skipped, warning } from './check.ts';
import type { Situation } from './situation.ts';

type McpSituation = Pick<Situation, 'folder' | 'gateway'>;

/** MCP servers: which the running gateway is connected to, which need a sign-in, and sign-ins that are left over (G03). */
export function mcpChecks(
  situation: McpSituation,
  { settings: { mcp } }: Pick<LoadedSettings, 'settings'>,
): readonly Check[] {
  const leftOver = leftOverSignIns(situation, mcp);
  const names = Object.keys(mcp);
  if (names.length === 0 && leftOver.length === 0) return [];
  const connections = names.length === 0 ? [] : connectionFindings(situation);
  return [{ name: 'mcp', run: async () => [...connections, ...leftOver] }];
}

function connectionFindings({ folder, gateway }: McpSituation): readonly Finding[] {
  if (gateway.kind !== 'runs') return [skipped('no gateway runs here that is connected to them')];
  const { at, status } = gateway;
  return status.mcp.map(({ works, line, signIn }) => {
    if (works) return ok(line);
    const fix =
      signIn === undefined
        ? `Correct what it names; "${commandLine('status', folder)}" shows when it is connected.`
        : `As an owner, open ${at.address}, and press “Sign in” beside ${signIn} under Status.`;
    return warning(line, fix);
  });
}

/** Tokens of servers that are no longer in the settings: nobody uses them, and they still let someone in. */
function leftOverSignIns(
  { folder }: McpSituation,
  mcp: LoadedSettings['settings']['mcp'],
): readonly Finding[] {
  const secrets = join(folder.path, 'secrets');
  const files = existsSync(secrets) ? readdirSync(secrets) : [];
  return files.flatMap((file) => {
    const server = /^mcp-([^.]+)\.json$/.exec(file)?.[1];
    if (server === undefined || mcp[server]?.url !== undefined) return [];
    const found = `secrets/${file} is the sign-in at a server that is not in the settings`;
    return warning(found, 'Withdraw the rights at that server, and remove the file.');
  });
}
