import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type DataFolder, formatCommandLine } from '../../data-folder.ts';
import type { LoadedSettings } from '../../settings.ts';
import { type CheckFinding, defineDoctorCheck, ok, skipped, warning } from './check.ts';
import type { FactsFor } from './facts.ts';

export const MCP_CHECK = defineDoctorCheck(['settings', 'gateway'], {
  id: 'mcp',
  title:
    'The gateway is connected to all MCP servers, and every stored sign-in is for one of them.',
  run(facts) {
    const { mcp } = facts.settings;
    const connections = Object.keys(mcp).length === 0 ? [] : checkConnections(facts);
    return [...connections, ...findUnusedSignIns(facts.folder, mcp)];
  },
});

function checkConnections({ folder, gateway }: FactsFor<'gateway'>): readonly CheckFinding[] {
  if (gateway.kind !== 'runs') return [skipped('no running gateway is connected to MCP servers')];
  const { at, status } = gateway;
  return status.mcp.map(({ works, line, signIn }) => {
    if (works) return ok(line);
    const advice =
      signIn === undefined
        ? `Fix the reported problem; "${formatCommandLine('status', folder)}" shows when the server is connected.`
        : `As an owner, open ${at.address} and click “Sign in” beside ${signIn} under Status.`;
    return warning(line, advice);
  });
}

/**
 * Finds tokens for servers that are no longer in the settings. Tokens for removed servers are
 * unused but still valid.
 */
function findUnusedSignIns(
  folder: DataFolder,
  mcp: LoadedSettings['settings']['mcp'],
): readonly CheckFinding[] {
  const secrets = join(folder.path, 'secrets');
  const files = existsSync(secrets) ? readdirSync(secrets) : [];
  return files.flatMap((file) => {
    const server = /^mcp-([^.]+)\.json$/.exec(file)?.[1];
    if (server === undefined || mcp[server]?.url !== undefined) return [];
    const found = `secrets/${file} is a sign-in for a server that is not in the settings`;
    return warning(found, 'Revoke the access at that server and delete the file.');
  });
}
