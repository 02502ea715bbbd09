import { creation, type Fold, update } from '../change.ts';

export const foldGatewayOpened: Fold<'GatewayOpened'> = ({ data }) => [
  creation('gateways', data.gateway, {
    operator: data.operator,
    signers: data.signers,
    stopped: data.stopped,
  }),
];

export const foldGatewayUpdated: Fold<'GatewayUpdated'> = ({ data }) => [
  update(
    'gateways',
    { address: data.gateway, sequence: data.gatewaySequence },
    { signers: data.signers, stopped: data.stopped },
  ),
];
