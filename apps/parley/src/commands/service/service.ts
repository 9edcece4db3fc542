import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, parse, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf, systemTime } from '@parley/core';
import { type CliContext, formatJson } from '../../cli.ts';
import {
  CliError,
  createDataFolder,
  type DataFolder,
  findInstance,
  formatCommandLine,
  getDefaultDataFolder,
  locateDataFolder,
} from '../../data-folder.ts';
import { createLaunchdManager } from './launchd.ts';
import { getCurrentMachine, type ServiceMachine, type ServiceManager } from './manager.ts';
import { createSystemdManager } from './systemd.ts';
import { type ServiceProgram, SYSTEM_FOLDER, SYSTEM_UNIT, SYSTEM_USER } from './systemd-unit.ts';

/** This machine's or this user's service, and its data folder. */
export interface ParleyService {
  readonly manager: ServiceManager;
  readonly folder: DataFolder;
  readonly machine: ServiceMachine;
  readonly program: ServiceProgram;
  readonly isSystem: boolean;
}

/**
 * `parley service install`: writes the unit, starts the service and waits until it answers. The
 * exit code is 1 if the service does not answer.
 */
export async function installService(
  cli: CliContext,
  { print: onlyPrint = false }: { readonly print?: boolean },
  machine: ServiceMachine = getCurrentMachine(cli.env),
): Promise<number> {
  const service = findService(cli, machine);
  const { manager, folder, isSystem, program } = service;
  const text = await manager.text();
  if (onlyPrint) {
    cli.print(text.trimEnd());
    return 0;
  }
  await manager.check();
  if (isSystem) checkReadablePaths(program, HIDDEN.map(machine.at));
  await assertNoOtherProcess(service);
  if (!isSystem) createDataFolder(folder);
  await manager.prepare();
  const before = existsSync(manager.file) ? readFileSync(manager.file, 'utf8') : null;
  if (before !== text) {
    mkdirSync(dirname(manager.file), { recursive: true });
    writeFileSync(manager.file, text, { mode: 0o644 });
  }
  cli.print(`${before === text ? 'Unchanged' : 'Written'}: ${manager.file}\n\n${text}`);
  await manager.start();
  const outcome = await waitUntilHealthy(service);
  if (outcome.kind === 'healthy') {
    cli.print(formatInstallResult(service, outcome.address));
    return 0;
  }
  cli.print(
    `The service is installed but does not answer: ${outcome.reason}. Its log shows the reason: ${manager.readLog}`,
  );
  return 1;
}

function formatInstallResult(
  { manager, folder, isSystem }: ParleyService,
  address: string,
): string {
  const left = getDefaultDataFolder();
  const isLeft = isSystem && left !== folder.path && existsSync(join(left, 'parley.db'));
  return [
    'Parley runs as a service.',
    '',
    `Page      ${address}`,
    `Sign in   ${formatCommandLine('sessions new', folder)}   (prints a sign-in link)`,
    `State     ${formatCommandLine('service status', folder)}`,
    `Log       ${manager.readLog}`,
    `Data      ${folder.path}`,
    ...manager.notes(),
    ...(isLeft
      ? [
          `Before    the data in ${left} is not used by the service. To continue with that data: systemctl stop parley, then`,
          `          cp -a ${left}/. ${folder.path}/ && chown -R ${SYSTEM_USER}: ${folder.path}, then install again`,
        ]
      : []),
  ].join('\n');
}

/**
 * `parley service status`: the exit code is 0 if the service runs and answers, 1 if it does not,
 * and 3 if no service is installed.
 */
export async function showServiceStatus(
  cli: CliContext,
  machine: ServiceMachine = getCurrentMachine(cli.env),
): Promise<number> {
  const service = findService(cli, machine);
  const { manager } = service;
  const folder = findInstalledFolder(manager);
  if (folder === null) return reportNoService(cli, service);
  const { text, pid, memoryBytes, since, restarts } = await manager.state();
  const instance = findInstance(folder);
  const isOurs = instance !== null && instance.pid === pid;
  const health = isOurs ? await checkHealth(instance.address) : 'it does not answer yet';
  if (cli.json) {
    const state = { text, pid, memoryBytes, since, restarts, health: health ?? 'ok' };
    const page = isOurs ? instance.address : null;
    cli.print(formatJson({ ...state, page, data: folder.path, unit: manager.file }));
    return health === null ? 0 : 1;
  }
  cli.print(
    [
      `state     ${text}`,
      ...(since === null ? [] : [`since     ${since}`]),
      ...(pid === null ? [] : [`process   ${pid}`]),
      ...(memoryBytes === null
        ? []
        : [`memory    ${Math.round(memoryBytes / 1e6)} MB, including cached files`]),
      ...(restarts === 0 ? [] : [`restarts  ${restarts} after failures`]),
      `health    ${health ?? 'ok'}`,
      ...(isOurs ? [`page      ${instance.address}`] : []),
      `data      ${folder.path}`,
      `unit      ${manager.file}`,
      `log       ${manager.readLog}`,
    ].join('\n'),
  );
  return health === null ? 0 : 1;
}

/** `parley service uninstall`: removes the service but keeps its data. */
export async function uninstallService(
  cli: CliContext,
  machine: ServiceMachine = getCurrentMachine(cli.env),
): Promise<number> {
  const service = findService(cli, machine);
  const { manager, isSystem } = service;
  const folder = findInstalledFolder(manager);
  if (folder === null) return reportNoService(cli, service);
  await manager.stop();
  rmSync(manager.file);
  await manager.forget();
  const user = isSystem ? `, and the user ${SYSTEM_USER}` : '';
  cli.print(
    `The service is stopped, and ${manager.file} is removed. The data in ${folder.path} is kept${user}.`,
  );
  return 0;
}

function reportNoService(
  { print }: CliContext,
  { manager, machine, folder, isSystem }: ParleyService,
): number {
  const ofMachine = machine.at(SYSTEM_UNIT);
  const hint =
    !isSystem && existsSync(ofMachine)
      ? `A system service is installed, ${ofMachine}. Run this command as root.`
      : `"${formatCommandLine('service install', folder)}" installs one.`;
  print(`No service is installed here (there is no ${manager.file}). ${hint}`);
  return 3;
}

/**
 * Finds the installed service's data folder, even if the command names another folder; null if no
 * service is installed.
 */
export function findInstalledFolder({ file, folderIn }: ServiceManager): DataFolder | null {
  const path = existsSync(file) ? folderIn(readFileSync(file, 'utf8')) : null;
  return path === null ? null : locateDataFolder(path, {});
}

export function findService(
  { folder: chosen }: CliContext,
  machine: ServiceMachine,
): ParleyService {
  const { platform, uid, at, node, launcher } = machine;
  if (platform !== 'linux' && platform !== 'darwin') {
    throw new CliError(
      'service-platform',
      `Parley cannot install a service on ${platform}. Set up a service that runs "${node} ${launcher} start" yourself.`,
    );
  }
  const isSystem = platform === 'linux' && uid === 0;
  const standard = locateDataFolder(at(SYSTEM_FOLDER), {});
  const isDefault = chosen.path === getDefaultDataFolder();
  const path = isSystem && isDefault ? standard.path : chosen.path;
  const hasDefaultSettings = chosen.settingsFile === join(chosen.path, 'parley.yaml');
  const program: ServiceProgram = {
    node,
    launcher,
    folder: path,
    settingsFile: hasDefaultSettings ? undefined : chosen.settingsFile,
  };
  const manager =
    platform === 'darwin'
      ? createLaunchdManager(machine, program)
      : createSystemdManager(machine, program);
  return { manager, machine, program, isSystem, folder: locateDataFolder(path, {}) };
}

/** Folders that a system service's unit hides or replaces with empty folders. */
const HIDDEN = ['/home', '/root', '/run/user', '/tmp', '/var/tmp'];

/** Throws CliError for paths that the service's user cannot read. */
function checkReadablePaths(program: ServiceProgram, hidden: readonly string[]): void {
  const { node, launcher, folder, settingsFile } = program;
  for (const path of [node, launcher, settingsFile]) {
    const barrier = path === undefined ? null : findUnreadableReason(path, hidden);
    if (barrier === null) continue;
    const fix =
      path === settingsFile
        ? `Put the settings into ${folder}/parley.yaml`
        : 'Install Node and Parley in a folder that every user can read, such as /usr/local or /opt, and run this from there';
    throw new CliError(
      'service-unreachable',
      `The service runs as the user ${SYSTEM_USER}, which cannot read ${path}: ${barrier}. ${fix}; or install the service as a user other than root.`,
    );
  }
  const hiding = hidden.find((one) => isPathWithin(folder, one));
  if (hiding === undefined) return;
  throw new CliError(
    'service-folder',
    `A service cannot see ${hiding}, so ${folder} cannot be its data folder. Leave out --data and PARLEY_HOME to use ${SYSTEM_FOLDER}, or choose a folder elsewhere.`,
  );
}

/** Returns why an unprivileged user cannot read a file or its link target; null if the user can. */
export function findUnreadableReason(path: string, hidden: readonly string[]): string | null {
  const real = realpathSync(path);
  for (const one of new Set([path, real])) {
    const hiding = hidden.find((folder) => isPathWithin(one, folder));
    if (hiding !== undefined) return `services cannot see ${hiding}`;
    for (const folder of listAncestorFolders(one)) {
      if ((statSync(folder).mode & 0o001) === 0) return `other users cannot enter ${folder}`;
    }
  }
  return (statSync(real).mode & 0o004) === 0 ? 'other users cannot enter it' : null;
}

function isPathWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}

/** Lists all parent folders of a path, outermost first. */
function listAncestorFolders(path: string): string[] {
  const folder = dirname(path);
  return folder === parse(path).root ? [folder] : [...listAncestorFolders(folder), folder];
}

/** Throws CliError if a Parley process other than the service holds the data folder. */
async function assertNoOtherProcess({ manager, folder }: ParleyService): Promise<void> {
  const instance = findInstance(folder);
  if (instance === null || instance.pid === (await manager.state()).pid) return;
  throw new CliError(
    'service-busy',
    `Another Parley is running on ${folder.path} (process ${instance.pid} at ${instance.address}). Stop it and install again.`,
  );
}

/**
 * How long (ms) to wait for the service to answer. After an upgrade, it may have to migrate the
 * database first.
 */
const HEALTHY_WITHIN_MS = 60_000;
const POLL_INTERVAL_MS = 200;
const ANSWER_WITHIN_MS = 3_000;

type HealthOutcome =
  | { readonly kind: 'healthy'; readonly address: string }
  | { readonly kind: 'failed'; readonly reason: string };

export async function waitUntilHealthy({ manager, folder }: ParleyService): Promise<HealthOutcome> {
  const deadline = systemTime.monotonic() + HEALTHY_WITHIN_MS;
  let reason = 'it has not published its address';
  while (systemTime.monotonic() < deadline) {
    const { pid, isFailing, text } = await manager.state();
    if (isFailing) return { kind: 'failed', reason: `it ended immediately, ${text}` };
    const instance = findInstance(folder);
    if (instance !== null && instance.pid === pid) {
      const unhealthy = await checkHealth(instance.address);
      if (unhealthy === null) return { kind: 'healthy', address: instance.address };
      reason = unhealthy;
    }
    await sleep(POLL_INTERVAL_MS);
  }
  return { kind: 'failed', reason: `${reason} after ${HEALTHY_WITHIN_MS / 1000} s` };
}

/** Returns why a gateway is not healthy; null if it is healthy. */
async function checkHealth(address: string): Promise<string | null> {
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const response = await fetch(`${address}/healthz`, { signal });
    return response.ok ? null : `${address}/healthz says ${response.status}`;
  } catch (error) {
    return `${address} does not answer (${reasonOf(error)})`;
  }
}
