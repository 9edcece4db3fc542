import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Test files that take half a minute or much of a core, the longest first, because a file that
 * starts late would run alone at the end. Two CPU-bound files precede each file that mostly waits,
 * because four files run at a time on two cores.
 */
const SLOWEST = [
  'test/crash/crash-distributed.test.ts',
  'test/simulation/simulation.test.ts',
  'test/conformance/channels-whatsapp.test.ts',
  'test/conformance/channels-slack.test.ts',
  'test/conformance/channels-slack-socket.test.ts',
  'test/conformance/channels-teams.test.ts',
  'packages/tools/src/documents/document-reader.test.ts',
  'test/crash/crash-embedded.test.ts',
  'test/distributed/rolling-restart.test.ts',
  'test/fairness/slow-database.test.ts',
  'packages/core/src/json-schema/check-runner.test.ts',
  'test/e2e/backup.test.ts',
  // Not the first file, because its deadlines are about a second, and at the start all workers are
  // still loading their modules.
  'test/distributed/silent-servers.test.ts',
  'test/e2e/cron.test.ts',
  'test/e2e/hostile-schemas.test.ts',
  'test/e2e/web-approvals.test.ts',
  'test/conformance/channels-discord.test.ts',
  'test/e2e/start.test.ts',
  'packages/tools/src/mcp/servers.test.ts',
  'test/distributed/shared-accounts.test.ts',
  'packages/agent/src/response-format.test.ts',
  'test/conformance/channels-lines.test.ts',
  'test/injection/injection.test.ts',
  'test/e2e/mcp.test.ts',
  'test/distributed/stuck-worker.test.ts',
  'test/distributed/alerts.test.ts',
  'test/e2e/approvals.test.ts',
  'test/cost/message-cost.test.ts',
  'test/e2e/web-restart.test.ts',
  'test/distributed/gateways.test.ts',
  'test/e2e/web-chat.test.ts',
  'test/e2e/telegram-approvals.test.ts',
  'test/heartbeat/telegram-beats.test.ts',
  'test/queue/redis-outage.test.ts',
  'test/e2e/compaction.test.ts',
  'test/e2e/workspace-life.test.ts',
  'test/e2e/soul.test.ts',
  'test/e2e/sub-agents.test.ts',
  'packages/markup/src/hostile.test.ts',
  'test/distributed/apart.test.ts',
  'packages/tools/src/sandbox/limits.test.ts',
  'packages/queue/src/lane-worker.test.ts',
  'test/e2e/web-dead.test.ts',
  'test/e2e/dead.test.ts',
  'test/e2e/prompt-command.test.ts',
  'test/e2e/profiles.test.ts',
];

/**
 * The slowest files, then the packages (so that a broken package shows up before most of what
 * depends on it), then all other files.
 */
export class SlowestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const known = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const file = relative(this.ctx.config.root, moduleId);
      const slow = SLOWEST.indexOf(file);
      if (slow >= 0) return slow;
      return SLOWEST.length + (file.startsWith('packages') ? 0 : 1);
    };
    return known.toSorted((a, b) => rank(a) - rank(b));
  }
}
