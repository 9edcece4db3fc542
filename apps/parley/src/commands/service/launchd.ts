import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { CliError } from '../../data-folder.ts';
import {
  requireSuccess,
  type ServiceMachine,
  type ServiceManager,
  type ServiceState,
} from './manager.ts';
import { type ServiceProgram, toCommandLine } from './systemd-unit.ts';

const LABEL = 'parley';

/** Returns the property list for a launch agent. */
export function createLaunchAgent(program: ServiceProgram, log: string): string {
  const words = toCommandLine(program).map((word) => `    <string>${escapeXml(word)}</string>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by "parley service install", which replaces it. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${words.join('\n')}
  </array>
  <key>WorkingDirectory</key>
  <string>${escapeXml(program.folder)}</string>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    <string>/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>15</integer>
  <key>ExitTimeOut</key>
  <integer>15</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardOutPath</key>
  <string>${escapeXml(log)}</string>
  <key>StandardErrorPath</key>
  <string>${escapeXml(log)}</string>
</dict>
</plist>
`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const CHARACTERS = Object.fromEntries(
  Object.entries(ENTITIES).map(([one, entity]) => [entity, one]),
);

function escapeXml(text: string): string {
  return text.replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? '');
}

/** Manages Parley as a launch agent of the current user, which starts at login. */
export function createLaunchdManager(
  machine: ServiceMachine,
  program: ServiceProgram,
): ServiceManager {
  const { uid, home, run } = machine;
  const file = join(home, 'Library/LaunchAgents', `${LABEL}.plist`);
  const logs = join(home, 'Library/Logs/Parley');
  const log = join(logs, 'parley.log');
  const domain = `gui/${uid}`;
  return {
    file,
    readLog: `tail -n 50 '${log}'`,
    text: async () => createLaunchAgent(program, log),
    folderIn: (text) => {
      const found = /<key>WorkingDirectory<\/key>\s*<string>([^<]+)</.exec(text)?.[1];
      return found?.replaceAll(/&(amp|lt|gt);/g, (entity) => CHARACTERS[entity] ?? entity) ?? null;
    },
    async check() {
      if (uid !== 0) return;
      throw new CliError(
        'service-root',
        'On macOS, Parley is a launch agent of your own user. Run this without sudo. Nothing was written.',
      );
    },
    async prepare() {
      mkdirSync(logs, { recursive: true, mode: 0o700 });
    },
    async start() {
      await run('launchctl', ['bootout', `${domain}/${LABEL}`]); // `bootout` fails if the agent is not loaded.
      await requireSuccess(
        run('launchctl', ['enable', `${domain}/${LABEL}`]),
        'The launch agent was not enabled',
      );
      await requireSuccess(
        run('launchctl', ['bootstrap', domain, file]),
        'The service did not start',
      );
    },
    async stop() {
      await run('launchctl', ['bootout', `${domain}/${LABEL}`]);
    },
    async forget() {},
    state: async () =>
      parseLaunchdState((await run('launchctl', ['print', `${domain}/${LABEL}`])).out),
    notes: () => ['Boot      it starts when you log in and ends when you log out'],
  };
}

/** Parses the output of `launchctl print`. */
export function parseLaunchdState(printed: string): ServiceState {
  const pid = Number(/^\s*pid = (\d+)$/m.exec(printed)?.[1] ?? 0);
  const state = /^\s*state = (.+)$/m.exec(printed)?.[1];
  return {
    text: state ?? 'not loaded',
    isFailing: /^\s*last exit code = [1-9]/m.test(printed) && pid === 0,
    pid: pid > 0 ? pid : null,
    memoryBytes: null,
    since: null,
    restarts: 0,
  };
}
