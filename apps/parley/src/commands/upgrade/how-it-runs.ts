import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { detectInstallationKind, findLauncherRoot } from '@parley/core/installation';
import type { CliContext } from '../../cli.ts';
import { findInstance, formatCommandLine } from '../../data-folder.ts';
import type { ServiceMachine, ServiceManager } from '../service/manager.ts';
import { findInstalledFolder, findService } from '../service/service.ts';

/** How this installation is run, which decides who switches to a new release. */
export type HowItRuns =
  /** A service that starts the launcher of an installation by npm: Parley switches and watches. */
  | { readonly kind: 'service'; readonly launcherRoot: string; readonly manager: ServiceManager }
  /** An installation by npm that does not run now: Parley switches, and the next start uses it. */
  | { readonly kind: 'npm'; readonly launcherRoot: string }
  /** Anything else: a person switches, with these commands. */
  | { readonly kind: 'by-hand'; readonly commands: readonly string[] };

const CONTAINER_FILES = ['/.dockerenv', '/run/.containerenv'];

export function detectHowItRuns(
  cli: CliContext,
  machine: ServiceMachine,
  file: string,
  launcherRoot: string = fileURLToPath(findLauncherRoot()),
): HowItRuns {
  const { folder } = cli;
  if (CONTAINER_FILES.some((path) => existsSync(machine.at(path))))
    return { kind: 'by-hand', commands: ['git pull', 'docker compose up -d --build'] };
  const kind = detectInstallationKind(new URL(`file://${launcherRoot}`));
  if (kind === 'clone')
    return { kind: 'by-hand', commands: ['git pull && npm ci', restartOf(cli)] };
  if (kind === 'project')
    return { kind: 'by-hand', commands: [`npm install ${file}`, restartOf(cli)] };
  const manager = findRunningService(cli, machine);
  if (manager !== null) return { kind: 'service', launcherRoot, manager };
  if (findInstance(folder) === null) return { kind: 'npm', launcherRoot };
  return { kind: 'by-hand', commands: [`npm install --global ${file}`, restartOf(cli)] };
}

const restartOf = ({ folder }: CliContext): string =>
  `stop Parley, and then: ${formatCommandLine('start', folder)}`;

/** The service on this data folder; null if there is none, or if the platform has no services. */
function findRunningService(cli: CliContext, machine: ServiceMachine): ServiceManager | null {
  if (machine.platform !== 'linux' && machine.platform !== 'darwin') return null;
  const { manager } = findService(cli, machine);
  return findInstalledFolder(manager)?.path === cli.folder.path ? manager : null;
}
