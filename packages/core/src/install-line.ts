import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { detectInstallationKind, INSTALLATION, type InstallationKind } from './installation.ts';

const Manifest = z.object({
  optionalDependencies: z.record(z.string(), z.string()).default({}),
  peerDependencies: z.record(z.string(), z.string()).default({}),
});

/**
 * The command that installs optional libraries in the versions specified by Parley's package.json.
 */
export function formatInstallCommand(
  names: readonly string[],
  kind = detectInstallationKind(),
): string {
  if (kind === 'clone') return 'npm install --include=optional';
  const manifest = JSON.parse(readFileSync(new URL('package.json', INSTALLATION), 'utf8'));
  const { optionalDependencies, peerDependencies } = Manifest.parse(manifest);
  const versions = { ...peerDependencies, ...optionalDependencies };
  return `${COMMAND[kind]} ${names.map((name) => `${name}@${versions[name] ?? 'latest'}`).join(' ')}`;
}

const COMMAND: Readonly<Record<Exclude<InstallationKind, 'clone'>, string>> = {
  global: 'npm install --global',
  project: 'npm install',
};
