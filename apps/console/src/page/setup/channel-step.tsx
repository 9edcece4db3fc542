import type {
  SetupField as PlatformField,
  SetupBot,
  SetupPlatform,
  SetupState,
} from '@parley/gateway/api';
import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { listUnlinkedAccounts, PairingView } from '../pairing.tsx';
import { ActionButton } from '../ui/widgets.tsx';
import {
  findAnswerFor,
  OptionChooser,
  SetupField,
  SetupResultNote,
  SetupStep,
  type StepPosition,
  useStep,
} from './step.tsx';

type ChannelMethod = 'setup/try-channel' | 'setup/save-channel';

export type AccountSummaries = OutputOf<'channels/report'>['accounts'];

interface ChannelProps {
  readonly state: SetupState;
  readonly accounts: AccountSummaries;
  readonly place: StepPosition;
  readonly onSaved: () => void;
}

/** What a person has typed for the chosen platform. */
interface TypedValues {
  readonly token: string;
  readonly phone: string;
  readonly options: Readonly<Record<string, string>>;
}

const NOTHING: TypedValues = { token: '', phone: '', options: {} };

/** The chosen platform and the typed values, as sent to the gateway. */
function useChannelInput(platforms: readonly SetupPlatform[], accounts: AccountSummaries) {
  const [id, setId] = useState('');
  const [typed, setTyped] = useState(NOTHING);
  const chosen = platforms.find((one) => one.id === id) ?? findFirstUnlinked(platforms, accounts);
  const choose = (next: string): void => {
    setId(next);
    setTyped(NOTHING);
  };
  /** Keeps the platform selected, which might otherwise change to one that waits for its phone. */
  const type = (next: TypedValues): void => {
    setId(chosen?.id ?? '');
    setTyped(next);
  };
  const { token, phone, options } = typed;
  const input = {
    channel: chosen?.id ?? 'telegram',
    ...(token !== '' && { token }),
    ...(phone !== '' && chosen?.asks === 'phone' && { phone }),
    ...(chosen?.asks === 'options' && { options: getFilledValues(chosen.fields ?? [], options) }),
  };
  return { chosen, choose, typed, type, input };
}

/**
 * Connects a channel. Before it is saved, its secrets are tested, and the bot's name and picture
 * are shown.
 */
export function ChannelStep({ state, accounts, place, onSaved }: ChannelProps): VNode {
  const { channels, platforms } = state;
  const { chosen, choose, typed, type, input } = useChannelInput(platforms, accounts);
  const [bot, setBot] = useState<SetupBot | null>(null);
  const { answered, isBusy, isSaving, take } = useStep<ChannelMethod>(() => {
    type(NOTHING);
    // The step stays open to show the code for a phone or the address for a platform.
    if (chosen?.asks === 'token') onSaved();
  });
  const answer = findAnswerFor(answered, input);
  const tried = (answer?.kind === 'works' && answer.bot) || null;
  useEffect(() => {
    if (tried !== null) setBot(tried);
  }, [tried]);
  const isSaved = chosen !== undefined && channels.includes(chosen.id);
  return (
    <SetupStep
      place={place}
      title="Connect a channel"
      done={describeConnectedAccounts(accounts, bot)}
      isSaving={isSaving}
    >
      <OptionChooser
        label="Channel"
        options={platforms.map((one) => [
          one.id,
          one.isUntested ? `${one.name} (not tested)` : one.name,
        ])}
        value={chosen?.id ?? ''}
        isBusy={isBusy}
        onChoose={choose}
      />
      {chosen && <PlatformFields {...{ platform: chosen, typed, isSaved }} onType={type} />}
      <SetupResultNote answer={answer} />
      {tried !== null && <BotCard {...tried} />}
      {(answer === undefined || answer.kind === 'done') && (
        <AccountFailures accounts={accounts} channel={chosen?.id} />
      )}
      {chosen && (
        <ChannelActions
          {...{ platform: chosen, typed, isSaved, isBusy }}
          onTake={(method) => void take({ method, input })}
        />
      )}
      {isSaved && chosen.asks === 'phone' && <LinkPhone accounts={accounts} channel={chosen.id} />}
    </SetupStep>
  );
}

interface FieldsProps {
  readonly platform: SetupPlatform;
  readonly typed: TypedValues;
  readonly isSaved: boolean;
  readonly onType: (typed: TypedValues) => void;
}

/** What a person needs for a platform, and the fields for it. */
function PlatformFields({ platform, typed, isSaved, onType }: FieldsProps): VNode {
  const { asks, needs, webhook, fields = [], notDurable = [] } = platform;
  return (
    <>
      <p class="facts">{needs}</p>
      {webhook !== undefined && (
        <p class="facts">If the platform asks for an address to call, enter this one: {webhook}.</p>
      )}
      <DurabilityNote sentences={notDurable} />
      {asks === 'token' && (
        <SetupField
          label="Token"
          value={typed.token}
          isSecret
          onInput={(token) => onType({ ...typed, token })}
        />
      )}
      {asks === 'phone' && !isSaved && (
        <SetupField
          label="Phone number"
          hint="Leave it empty to scan a QR code instead."
          value={typed.phone}
          onInput={(phone) => onType({ ...typed, phone })}
        />
      )}
      {fields.map(({ key, label, help, isSecret, isOptional }) => (
        <SetupField
          key={`${platform.id} ${key}`}
          label={isOptional ? `${label} (if you use it)` : label}
          hint={help}
          value={typed.options[key] ?? ''}
          isSecret={isSecret}
          onInput={(value) => onType({ ...typed, options: { ...typed.options, [key]: value } })}
        />
      ))}
    </>
  );
}

interface FailuresProps {
  readonly accounts: AccountSummaries;
  readonly channel: string | undefined;
}

/** Why a channel's saved accounts do not work. */
function AccountFailures({ accounts, channel }: FailuresProps): VNode {
  const failed = accounts.filter((one) => one.channel === channel && one.state.kind === 'failed');
  return (
    <>
      {failed.map(({ account, reason, fix }) => (
        <p key={account} class="trouble">
          {reason} {fix}
        </p>
      ))}
    </>
  );
}

interface ActionsProps extends Omit<FieldsProps, 'onType'> {
  readonly isBusy: boolean;
  readonly onTake: (method: ChannelMethod) => void;
}

/** Tests the typed values and saves them. */
function ChannelActions({ platform, typed, isSaved, isBusy, onTake }: ActionsProps): VNode {
  const { asks, fields = [] } = platform;
  const isTried = asks !== 'phone';
  const isFilled =
    asks === 'token'
      ? typed.token !== ''
      : fields.every(({ key, isOptional }) => isOptional || isFilledIn(typed.options[key]));
  return (
    <div class="actions">
      {isTried && (
        <ActionButton
          label={asks === 'token' ? 'Try the token' : 'Try it'}
          isBusy={isBusy || !isFilled}
          onPress={() => onTake('setup/try-channel')}
        />
      )}
      {(isTried || !isSaved) && (
        <ActionButton
          label="Connect"
          look="is-main"
          isBusy={isBusy || !isFilled}
          onPress={() => onTake('setup/save-channel')}
        />
      )}
    </div>
  );
}

function isFilledIn(value: string | undefined): boolean {
  return value !== undefined && value.trim() !== '';
}

/** The fields that a person fills in for a platform. */
function getFilledValues(
  fields: readonly PlatformField[],
  options: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const keys = fields.map(({ key }) => key).filter((key) => isFilledIn(options[key]));
  return Object.fromEntries(keys.map((key) => [key, options[key] ?? '']));
}

/**
 * What cannot be guaranteed to be durable on a platform; a person should know this before
 * connecting it.
 */
function DurabilityNote({ sentences }: { readonly sentences: readonly string[] }): VNode | null {
  if (sentences.length === 0) return null;
  return (
    <details class="facts">
      <summary>What is not durable on this platform</summary>
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </details>
  );
}

/** The configured platform that is waiting for its phone, or otherwise the first platform. */
function findFirstUnlinked(
  platforms: readonly SetupPlatform[],
  accounts: AccountSummaries,
): SetupPlatform | undefined {
  const [waits] = listUnlinkedAccounts(accounts).unlinked;
  return platforms.find(({ id }) => waits?.id.startsWith(`${id}/`)) ?? platforms[0];
}

/** `Connected as @bot` for each connected account; null if there is none. */
function describeConnectedAccounts(accounts: AccountSummaries, bot: SetupBot | null): VNode | null {
  const names = accounts.flatMap(({ channel, state }) => {
    if (state.kind !== 'connected' && state.kind !== 'standby') return [];
    return [state.kind === 'connected' ? state.as : channel];
  });
  if (names.length === 0) return null;
  return (
    <>
      Connected as {names.join(', ')}
      {bot?.invitation != null && names.includes(bot.name) && (
        <>
          {' · '}
          <InvitationLink address={bot.invitation} />
        </>
      )}
    </>
  );
}

function InvitationLink({ address }: { readonly address: string }): VNode {
  return (
    <a href={address} target="_blank" rel="noopener noreferrer">
      Invite the bot to a server
    </a>
  );
}

/** The name and picture were chosen by the bot's owner. */
function BotCard({ name, picture, invitation }: SetupBot): VNode {
  const address = usePictureUrl(picture);
  return (
    <div class="row">
      {address === '' ? (
        <span class="face" aria-hidden="true">
          {name.replace(/^@/, '').slice(0, 1).toUpperCase()}
        </span>
      ) : (
        <img class="face setup-picture" src={address} alt="" width={40} height={40} />
      )}
      <b>{name}</b>
      {invitation !== null && <InvitationLink address={invitation} />}
    </div>
  );
}

/** An object URL for a picture; the browser detects the picture's type from its bytes. */
function usePictureUrl(base64: string | null): string {
  const [address, setAddress] = useState('');
  useEffect(() => {
    if (base64 === null) return setAddress('');
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const made = URL.createObjectURL(new Blob([bytes]));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [base64]);
  return address;
}

interface LinkProps {
  readonly accounts: AccountSummaries;
  readonly channel: string;
}

/**
 * The code of an account that is waiting for its phone, and later the number to which it is linked.
 */
function LinkPhone({ accounts, channel }: LinkProps): VNode {
  const own = accounts.filter((one) => one.channel === channel);
  const { unlinked } = listUnlinkedAccounts(own);
  return (
    <>
      {unlinked.map((account) => (
        <PairingView key={account.id} account={account} />
      ))}
      {own.map(
        ({ account, state }) =>
          state.kind === 'connected' && (
            <p key={account} class="outcome" role="status">
              Linked: {state.as}.
            </p>
          ),
      )}
    </>
  );
}
