import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take half a minute or more, the longest first: begun late, one of them would run alone at the end. */
const SLOWEST = [
  'test/crash/crash.test.ts',
  'test/distributed/rolling-restart.test.ts',
  'test/distributed/shared-accounts.test.ts',
  'test/heartbeat/telegram-beats.test.ts',
  'test/conformance/channels-whatsapp.test.ts',
  'test/e2e/web-approvals.test.ts',
  'test/e2e/web-dead.test.ts',
  'test/distributed/silent-servers.test.ts',
  'test/e2e/soul.test.ts',
  'test/conformance/channels-discord.test.ts',
  'test/e2e/backup.test.ts',
];
const SLOWEST_OF_PACKAGES = 'packages/queue/src/lane-worker.test.ts';

/** The slowest files, then the packages, so that a broken part is seen before most of what it breaks, then the rest. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const known = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const file = relative(this.ctx.config.root, moduleId);
      const slow = SLOWEST.indexOf(file);
      if (slow >= 0) return slow;
      if (file === SLOWEST_OF_PACKAGES) return SLOWEST.length;
      return SLOWEST.length + (file.startsWith('packages') ? 1 : 2);
    };
    return known.toSorted((a, b) => rank(a) - rank(b));
  }
}
