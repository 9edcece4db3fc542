import { z } from 'zod';
import type { LoadedSettings } from '../../settings.ts';

const Hosted = z.object({
  use: z.string(),
  options: z.record(z.string(), z.unknown()),
  env: z.record(z.string(), z.string()),
});
/** Options and variables that make adapters accept calls that the platform has not signed. */
const ACCEPTS_ANYTHING: readonly (readonly [name: string, value: unknown])[] = [
  ['disableSignatureVerification', true],
  ['allowUnverifiedWebhooks', true],
  ['verifyWebhookSignatures', false],
  ['verifySignatures', false],
  ['TELEGRAM_ALLOW_UNVERIFIED_WEBHOOKS', 'true'],
  ['X_DISABLE_WEBHOOK_VERIFICATION', 'true'],
  ['X_VERIFY_SIGNATURES', 'false'],
];

/** The hosted accounts that accept calls from anyone, and the setting that allows this. */
export function listUnverifiedAccounts(channels: LoadedSettings['channels']) {
  return Object.values(channels).flatMap((one) => {
    const hosted = one.kind === 'ok' ? Hosted.safeParse(one.settings).data : undefined;
    const given: Readonly<Record<string, unknown>> = { ...hosted?.options, ...hosted?.env };
    const by = ACCEPTS_ANYTHING.filter(([name, value]) => given[name] === value);
    return by.map(([setting]) => ({ name: `${one.channel}/${one.account}`, setting }));
  });
}
