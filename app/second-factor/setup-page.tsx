'use client'

import { SecondFactorSetup } from '../second-factor-setup'

export function SetupPage() {
  return <SecondFactorSetup done={() => window.location.assign('/')} />
}
