import { chatSdkChannel, loadAdapterFacts } from '@parley/channel-chat-sdk';
import type { ChannelDefinition } from '@parley/channels';
import { installLine } from '@parley/core/install-line';
import { type HostChannel, nearestWord } from '@parley/settings';

/**
 * Describes channels whose settings name a Chat SDK adapter with `use` (F15). The catalog is read
 * when the first of them is described.
 */
export function hostChannel(env: NodeJS.ProcessEnv): HostChannel {
  return (use) => {
    const { adapterFacts, adapterNames, isInstalled } = loadAdapterFacts();
    const { settings: schema, ids, library, refusal, secrets, isKnown } = adapterFacts(use, env);
    if (refusal !== undefined) return { kind: 'refused', expected: refusal };
    if (isInstalled(library.name)) return { kind: 'hosted', schema, ids, secrets, remarks: [] };
    const nearest = isKnown ? undefined : meantAdapter(use, adapterNames());
    // A misspelt name may be that of somebody else's package, so it is not offered for installation.
    if (nearest !== undefined) {
      return { kind: 'refused', expected: 'an adapter that is installed', nearest };
    }
    const line = installLine([`${library.name}@${library.version}`]);
    const expected = `a package that is installed; "${line}" installs it`;
    return {
      ...{ kind: 'hosted', schema, ids, secrets },
      remarks: [{ kind: 'not-installed', expected }],
    };
  };
}

/** The adapter of the catalog that was probably meant; undefined if none is close. */
function meantAdapter(use: string, names: ReadonlyMap<string, string>): string | undefined {
  const last = use.slice(use.lastIndexOf('/') + 1);
  return names.get(nearestWord(last, names.keys()) ?? '');
}

/** Adds the channels that exist because of `use` in the settings to those that always exist. */
export function withHosted(
  channels: readonly ChannelDefinition[],
  { hosted }: { readonly hosted: Readonly<Record<string, string>> },
): readonly ChannelDefinition[] {
  const added = Object.entries(hosted).map(([id, use]) => chatSdkChannel(id, use));
  return added.length === 0 ? channels : [...channels, ...added];
}
