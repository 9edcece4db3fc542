import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { detectInstallationKind, INSTALLATION, type InstallationKind } from './installation.ts';

const Versions = z.record(z.string(), z.string()).default({});
const Manifest = z.object({
  optionalDependencies: Versions,
  peerDependencies: Versions,
  devDependencies: Versions,
});

/**
 * The command that installs optional libraries: `discord.js` is installed in the version that
 * Parley's package.json specifies, `@chat-adapter/slack@4.41.1` in the given version.
 */
export function formatInstallCommand(
  names: readonly string[],
  kind = detectInstallationKind(),
): string {
  const url = new URL('package.json', INSTALLATION);
  const manifest = Manifest.parse(JSON.parse(readFileSync(url, 'utf8')));
  const { optionalDependencies, peerDependencies, devDependencies } = manifest;
  const versions = { ...peerDependencies, ...optionalDependencies };
  const wanted = names.map((name) => name.replace(/(?<=.)@(?=[^@]*$)/, ' ').split(' '));
  const specs = wanted.map(
    ([name = '', version = versions[name] ?? 'latest']) => `${name}@${version}`,
  );
  if (kind !== 'clone') return `${COMMAND[kind]} ${specs.join(' ')}`;
  const isVersioned = wanted.some(([, version]) => version !== undefined);
  if (!isVersioned) return 'npm install --include=optional';
  // A clone has the libraries that its tests use; npm would remove any others that package.json
  // does not list.
  const isTested = wanted.every(([name = '']) => Object.hasOwn(devDependencies, name));
  return isTested ? 'npm install --include=dev' : `npm install ${specs.join(' ')}`;
}

const COMMAND: Readonly<Record<Exclude<InstallationKind, 'clone'>, string>> = {
  global: 'npm install --global',
  project: 'npm install',
};
