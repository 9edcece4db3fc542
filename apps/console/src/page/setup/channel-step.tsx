import type { SetupBot, SetupPlatform, SetupState } from '@parley/gateway/api';
import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { listUnlinkedAccounts, PairingView } from '../pairing.tsx';
import { ActionButton } from '../ui/widgets.tsx';
import {
  AnswerNote,
  OptionChooser,
  SetupField,
  SetupStep,
  type StepPlace,
  useStep,
} from './step.tsx';

export type ShownAccounts = OutputOf<'channels/report'>['accounts'];

interface ChannelProps {
  readonly state: SetupState;
  readonly accounts: ShownAccounts;
  readonly place: StepPlace;
  readonly onSaved: () => void;
}

/**
 * Connects a channel: its token is tested and the bot's name and picture are shown before it is
 * saved.
 */
export function ChannelStep({ state, accounts, place, onSaved }: ChannelProps): VNode {
  const { channels, platforms } = state;
  const [id, setId] = useState('');
  const chosen = platforms.find((one) => one.id === id) ?? findFirstUnlinked(platforms, accounts);
  const [token, setToken] = useState('');
  const [phone, setPhone] = useState('');
  const [bot, setBot] = useState<SetupBot | null>(null);
  const hasToken = chosen?.asks === 'token';
  const { answer, isBusy, take, forget } = useStep(() => {
    setToken('');
    // The step stays open to show the code for a phone.
    if (hasToken) onSaved();
  });
  const tried = (answer?.kind === 'works' && answer.bot) || null;
  useEffect(() => {
    if (tried !== null) setBot(tried);
  }, [tried]);
  const takeAs = (step: 'setup/try-channel' | 'setup/save-channel'): void => {
    if (chosen === undefined) return;
    const { id: channel, asks } = chosen;
    void take(step, {
      channel,
      ...(token !== '' && { token }),
      ...(phone !== '' && asks === 'phone' && { phone }),
    });
  };
  const isSaved = chosen !== undefined && channels.includes(chosen.id);
  return (
    <SetupStep place={place} title="Connect a channel" done={describeConnected(accounts, bot)}>
      <OptionChooser
        label="Channel"
        options={platforms.map((one) => [one.id, one.name])}
        value={chosen?.id ?? ''}
        onChoose={(next) => {
          setId(next);
          forget();
          setToken('');
        }}
      />
      <p class="facts">{chosen?.needs}</p>
      {hasToken && <SetupField label="Token" value={token} isSecret onInput={setToken} />}
      {!hasToken && !isSaved && (
        <SetupField
          label="Phone number"
          hint="Leave it empty to scan a QR code instead."
          value={phone}
          onInput={setPhone}
        />
      )}
      <AnswerNote answer={answer} />
      {tried !== null && <BotCard {...tried} />}
      {accounts.map(
        ({ channel, account, state: { kind }, reason, fix }) =>
          kind === 'failed' &&
          (answer === undefined || answer.kind === 'done') &&
          channel === chosen?.id && (
            <p key={account} class="trouble">
              {reason} {fix}
            </p>
          ),
      )}
      <div class="actions">
        {hasToken && (
          <ActionButton
            label="Try the token"
            isBusy={isBusy || token === ''}
            onPress={() => takeAs('setup/try-channel')}
          />
        )}
        {(hasToken || !isSaved) && (
          <ActionButton
            label="Connect"
            look="is-main"
            isBusy={isBusy || (hasToken && token === '')}
            onPress={() => takeAs('setup/save-channel')}
          />
        )}
      </div>
      {isSaved && !hasToken && <LinkPhone accounts={accounts} channel={chosen.id} />}
    </SetupStep>
  );
}

/** The configured platform that is waiting for its phone, otherwise the first one. */
function findFirstUnlinked(
  platforms: readonly SetupPlatform[],
  accounts: ShownAccounts,
): SetupPlatform | undefined {
  const [waits] = listUnlinkedAccounts(accounts).unlinked;
  return platforms.find(({ id }) => waits?.id.startsWith(`${id}/`)) ?? platforms[0];
}

/** `Connected as @bot` for each connected account; null if there is none. */
function describeConnected(accounts: ShownAccounts, bot: SetupBot | null): VNode | null {
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
      Invite it to a server
    </a>
  );
}

/** The bot whose token was tested. Its owner chose the name and picture. */
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
  readonly accounts: ShownAccounts;
  readonly channel: string;
}

/** The code of an account waiting for its phone, and later the number it is linked to. */
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
