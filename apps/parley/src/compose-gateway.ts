import { bootOfMachine, openSendNotes } from '@parley/channels';
import { type Gateway, startGateway } from '@parley/gateway';
import { auditDeps, gatewayOptions } from './gateway-options.ts';
import { newId } from './new-id.ts';
import type { OpenLog } from './open-log.ts';
import type { Parts } from './open-parts.ts';
import type { PluggedIn } from './plug-in.ts';
import { isShared } from './process-role.ts';
import { startAudit } from './start-audit.ts';
import { startBoot } from './start-boot.ts';
import type { StartOptions } from './start-parley.ts';

/** Sends that are under way at a shutdown, after the turns, get this long. In ms. */
const SEND_GRACE_MS = 3_000;

/** Starts the channels and the web server, and leaves in `opened` how they are closed. */
export async function composeGateway(
  options: StartOptions & OpenLog,
  plugged: PluggedIn,
  parts: Parts,
  opened: AsyncDisposableStack,
): Promise<Gateway> {
  const { folder, clock, log } = options;
  const boot = bootOfMachine();
  const sendNotes =
    boot === undefined ? undefined : openSendNotes(folder.sendNotes, boot, { now: clock(), log });
  opened.defer(() => sendNotes?.close());
  const gateway = await startGateway({ ...gatewayOptions(options, plugged, parts), sendNotes });
  opened.defer(() => gateway.close(SEND_GRACE_MS));
  const { processId, shared, agent, accounts, owners } = parts;
  const among = isShared(plugged.loaded.settings) ? { processId } : null;
  opened.defer(startBoot({ ...shared, ...agent, accounts, owners, newId, shared: among }));
  opened.defer(startAudit(auditDeps(options, plugged, parts)));
  return gateway;
}
